"""onnx_footprint.ray on a real cluster: a head that computes nothing and two workers."""

import os
import pathlib
import tempfile
import unittest

os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_ENABLE_UV_RUN_RUNTIME_ENV="0")

import pyarrow.parquet
import ray
import ray.data
from ray.cluster_utils import Cluster

from onnx_footprint import ray as footprint_ray
from package import check_refusals, check_rows, registry

STORE = 100 << 20


class Ray(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cluster = Cluster(initialize_head=True, connect=False,
                          head_node_args={"num_cpus": 0, "object_store_memory": STORE,
                                          "include_dashboard": False})
        cls.addClassCleanup(cluster.shutdown)
        for _ in range(2):
            cluster.add_node(num_cpus=1, object_store_memory=STORE)
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, log_to_driver=False)
        cls.addClassCleanup(ray.shutdown)
        ray.data.DataContext.get_current().enable_progress_bars = False
        (cls.folder / "models").mkdir()
        cls.expected = registry(cls.folder / "models")

    def test_paths(self):
        nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        self.assertEqual(len(nodes), 2)
        models = ray.data.from_items([{"path": path} for path in self.expected])
        output = str(self.folder / "figures")
        footprint_ray.analyze(models.repartition(8), dim={"N": 64},
                              budget={"parameters": 400}).write_parquet(output)
        check_rows(self, pyarrow.parquet.read_table(output).to_pylist(), self.expected, 400)

    def test_contents(self):
        files = ray.data.read_binary_files(str(self.folder / "models"), include_paths=True)
        found = footprint_ray.analyze(files, "bytes", name_column="path", mode="training",
                                      report=True)
        rows = found.take_all()
        check_rows(self, rows, self.expected)
        self.assertEqual({row["inference_peak_bytes"] for row in rows}, {None})
        self.assertTrue(all('"footprint-report/1"' in row["report"] for row in rows
                            if not row["error"]))

    def test_options_are_refused_before_the_job(self):
        paths = ray.data.from_items([{"path": "a"}])
        contents = ray.data.from_items([{"path": "a", "content": b""}])
        check_refusals(self, footprint_ray.analyze, paths, contents)


if __name__ == "__main__":
    unittest.main()
