"""onnx_footprint.mlflow against a real server with a SQLite store."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import mlflow

from onnx_footprint import analyze
from onnx_footprint import mlflow as footprint_mlflow
from package import MODELS


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, folder: pathlib.Path) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        self.log = open(folder / "log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1",
             "--port", self.url.rsplit(":", 1)[1], "--workers", "1",
             "--backend-store-uri", f"sqlite:///{folder}/store.db",
             "--artifacts-destination", str(folder / "artifacts")],
            stdout=self.log, stderr=self.log, cwd=folder, start_new_session=True)
        self.wait(folder / "log")

    def wait(self, log: pathlib.Path) -> None:
        for _ in range(600):
            try:
                with urllib.request.urlopen(self.url + "/health", timeout=5):
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if self.process.poll() is not None:
                    break
                time.sleep(0.5)
        raise RuntimeError(log.read_text())

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(60)
        self.log.close()


class Mlflow(unittest.TestCase):
    def test_a_report_in_a_run(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            server = Server(folder)
            self.addCleanup(server.stop)
            mlflow.set_tracking_uri(server.url)
            report = analyze(MODELS[0], dim={"batch": 2}, mode="training")
            with mlflow.start_run() as run:
                footprint_mlflow.log_report(report)
            later = mlflow.MlflowClient().create_run(run.info.experiment_id)
            footprint_mlflow.log_report(report, prefix="memory", run_id=later.info.run_id, step=7)
            metrics = mlflow.get_run(run.info.run_id).data.metrics
            self.assertEqual(metrics["footprint/parameter_count"], report.parameter_count)
            self.assertEqual(metrics["footprint/peak_bytes"], report.training.peak.live_bytes)
            self.assertNotIn("footprint/inference_peak_bytes", metrics)
            document = mlflow.artifacts.load_text(
                f"runs:/{run.info.run_id}/footprint/report.json")
            self.assertEqual(document, report.to_json())
            page = mlflow.artifacts.load_text(f"runs:/{later.info.run_id}/memory/report.html")
            self.assertEqual(page, report.document("html"))
            [point] = mlflow.MlflowClient().get_metric_history(later.info.run_id,
                                                               "memory/peak_bytes")
            self.assertEqual((point.value, point.step), (report.training.peak.live_bytes, 7))
            self.assertTrue((folder / "store.db").stat().st_size > 0)


if __name__ == "__main__":
    unittest.main()
