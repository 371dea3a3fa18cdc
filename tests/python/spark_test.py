"""onnx_footprint.spark on a real cluster: a master and two workers, each a process of its own."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import pyarrow.parquet
import pyspark
from pyspark.sql import SparkSession

from onnx_footprint import spark
from package import check_refusals, check_rows, registry

HOME = pathlib.Path(pyspark.__file__).parent
SURROUNDINGS = {**os.environ, "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1",
                "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}


class Cluster:
    """Started by the first use, stopped by stop()."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.processes = folder, []
        log = self.start("master.Master", "--host", "127.0.0.1", "--port", "0")
        self.url = self.said(log, r"Starting Spark master at (spark://\S+)")
        for _ in range(2):
            log = self.start("worker.Worker", "--host", "127.0.0.1", "--cores", "1",
                             "--memory", "1g", "--work-dir", str(folder / "work"), self.url)
            self.said(log, r"(Successfully registered with master)")

    def start(self, name: str, *arguments: str) -> pathlib.Path:
        log = self.folder / f"{len(self.processes)}.log"
        with open(log, "w", encoding="utf-8") as output:
            self.processes.append(subprocess.Popen(
                [HOME / "bin/spark-class", "org.apache.spark.deploy." + name, "--webui-port", "0",
                 *arguments], env=SURROUNDINGS, stdout=output, stderr=output, cwd=self.folder))
        return log

    def said(self, log: pathlib.Path, pattern: str) -> str:
        for _ in range(600):
            found = re.search(pattern, log.read_text())
            if found:
                return found.group(1)
            time.sleep(0.2)
        raise TimeoutError(log.read_text())

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            process.wait(60)


class Spark(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ.update(SURROUNDINGS)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cluster = Cluster(cls.folder)
        cls.addClassCleanup(cluster.stop)
        cls.session = (
            SparkSession.builder.master(cluster.url).appName("footprint")
            .config("spark.driver.host", "127.0.0.1").config("spark.ui.enabled", "false")
            .config("spark.executor.memory", "512m").config("spark.executor.cores", "1")
            .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
            .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.execution.arrow.maxRecordsPerBatch", "20").getOrCreate())
        cls.addClassCleanup(cls.session.stop)
        cls.session.sparkContext.setLogLevel("ERROR")
        (cls.folder / "models").mkdir()
        cls.expected = registry(cls.folder / "models")

    def test_paths(self):
        rows = [(path,) for path in self.expected]
        models = self.session.createDataFrame(rows, "path string").repartition(8)
        output = str(self.folder / "figures")
        spark.analyze(models, dim={"N": 64}, budget={"parameters": 400}).write.parquet(output)
        check_rows(self, pyarrow.parquet.read_table(output).to_pylist(), self.expected, 400)
        executors = self.session.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
        self.assertEqual(len(executors), 3)  # the driver is one

    def test_contents(self):
        files = self.session.read.format("binaryFile").load(str(self.folder / "models"))
        found = spark.analyze(files, "content", name_column="path", mode="training", report=True)
        rows = [row.asDict() for row in found.collect()]
        check_rows(self, rows, self.expected)
        self.assertEqual({row["inference_peak_bytes"] for row in rows}, {None})
        self.assertEqual({row["report"] is None for row in rows if row["error"]}, {True})
        self.assertTrue(all('"footprint-report/1"' in row["report"] for row in rows
                            if not row["error"]))

    def test_options_are_refused_before_the_job(self):
        paths = self.session.createDataFrame([("a",)], "path string")
        contents = self.session.createDataFrame([("a", b"")], "path string, content binary")
        check_refusals(self, spark.analyze, paths, contents)


if __name__ == "__main__":
    unittest.main()
