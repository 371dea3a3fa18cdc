"""A report in an experiment of MLflow.

    import mlflow
    from onnx_footprint import analyze, mlflow as footprint_mlflow
    with mlflow.start_run():
        footprint_mlflow.log_report(analyze("model.onnx", dim={"batch": 32}))
"""

from __future__ import annotations

from ._core import Report
from ._extras import extra
from .rows import column_of


def metrics(report: Report) -> dict[str, float]:
    """The figures that are known, by name: {"peak_bytes": ...}."""
    known = {column_of(name): value for name, value in report.figures().items()
             if value is not None}
    return {"parameter_count": float(report.parameter_count),
            **{name: float(value) for name, value in known.items()}}


def log_report(report: Report, *, prefix: str = "footprint", run_id: str | None = None,
               step: int | None = None) -> None:
    """Logs the figures as metrics PREFIX/NAME and the report as artifacts PREFIX/report.html and
    PREFIX/report.json of the active run, or of `run_id`."""
    with extra("mlflow"):
        import mlflow

    figures = {f"{prefix}/{name}": value for name, value in metrics(report).items()}
    mlflow.log_metrics(figures, step=step, run_id=run_id)
    mlflow.log_text(report.document("html"), f"{prefix}/report.html", run_id=run_id)
    mlflow.log_text(report.to_json(), f"{prefix}/report.json", run_id=run_id)
