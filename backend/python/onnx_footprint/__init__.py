"""What a neural network needs in memory, from its ONNX model alone.

    import onnx_footprint
    report = onnx_footprint.analyze("resnet50.onnx", dim={"batch": 32}, optimizer="adamw")
    print(report)                             # the report as text
    report.training.peak.live_bytes           # an exact integer
    report.to_pandas("layers")                # also "tensors", "storages", "timeline", "sweep"
    report.to_json()                          # what footprint analyze --format json prints

More of it: onnx_footprint.from_module for PyTorch modules, onnx_footprint.spark and
onnx_footprint.ray for many models, onnx_footprint.mlflow for experiments.
"""

from ._analyze import Model, analyze
from ._core import Report
from ._errors import FootprintError, ModelError, UsageError
from ._options import Options
from ._torch import from_module

__all__ = [
    "FootprintError", "Model", "ModelError", "Options", "Report", "UsageError", "analyze",
    "from_module",
]
