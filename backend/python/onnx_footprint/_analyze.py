"""analyze(): one model in, one report out."""

from __future__ import annotations

import os
from typing import Protocol, Unpack

from . import _core
from ._errors import error_of
from ._options import Options, arguments


class ModelProto(Protocol):
    """An onnx.ModelProto; the onnx package itself is not needed."""

    def SerializeToString(self) -> bytes: ...  # noqa: N802


Model = str | os.PathLike[str] | bytes | bytearray | memoryview | ModelProto
"""A path, the bytes of an .onnx file, or an onnx.ModelProto."""


def analyze(model: Model, *, name: str | None = None, **options: Unpack[Options]) -> _core.Report:
    """Analyzes a model as `footprint analyze` does; `options` are those of the command.

    The nearest footprint.toml above a path is read, as by the command; config="none" leaves it.
    `name` is what the report calls a model that is no file. Its ending says the format, as that of
    a path does: .onnxtxt and .textproto are text.

    Raises ModelError if the model is wrong, UsageError if an option, a binding or a file's access
    is. Analyses share nothing and run without the interpreter's lock: call it from many threads.
    """
    contents: bytes | None = None
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        if name is not None:
            raise TypeError("a model that is a file has a name already")
    else:
        contents = _contents(model)
        path = "-" if name is None else name
    result = _core.analyze(["analyze", *arguments(options), "--", path], contents)
    if isinstance(result, _core.Failure):
        raise error_of(result, path)
    return result


def _contents(model: bytes | bytearray | memoryview | ModelProto) -> bytes:
    if isinstance(model, bytes):
        return model
    if isinstance(model, (bytearray, memoryview)):
        return bytes(model)
    if not hasattr(model, "SerializeToString"):
        raise TypeError("expected a path, bytes or an onnx.ModelProto; got "
                        f"{type(model).__name__}")
    try:
        return model.SerializeToString()
    except Exception as error:
        raise ValueError("the ModelProto cannot be serialized (protobuf ends at 2 GiB); save it "
                         "with external data and analyze the file") from error
