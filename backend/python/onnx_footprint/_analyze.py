"""analyze(): one model in, one report out."""

from __future__ import annotations

import os
from typing import Protocol, Unpack

from . import _core
from ._errors import error_of
from ._options import Options, arguments, check_name


class ModelProto(Protocol):
    """An onnx.ModelProto; the onnx package itself is not needed."""

    def SerializeToString(self) -> bytes: ...  # noqa: N802


Path = str | os.PathLike[str] | os.PathLike[bytes]
Model = Path | bytes | bytearray | memoryview | ModelProto
"""A path, the bytes of an .onnx file, or an onnx.ModelProto."""


def analyze(model: Model, *, name: str | None = None, **options: Unpack[Options]) -> _core.Report:
    """Analyzes a model as `footprint analyze` does; `options` are those of the command.

    The nearest footprint.toml above a path is read, as by the command; config="none" leaves it. A
    model that is no file has none above it. `name` is what the report calls such a model. Its
    ending says the format, as that of a path does: .onnxtxt and .textproto are text.

    Raises ModelError if the model is wrong, UsageError if an option, a binding or a file's access
    is. Analyses share nothing and run without the interpreter's lock: call it from many threads.
    Ctrl-C ends one between the values of a range, a sweep or a fit, and else when it is done.
    """
    if isinstance(model, (str, os.PathLike)):
        if name is not None:
            raise TypeError("a model that is a file has a name already")
        return run(None, _path(model), options)
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name: expected a str, got {type(name).__name__}")
    if name == "":
        raise ValueError("name: expected None or a text that is not empty")
    return run(contents_of(model), name or "-", options)


def run(contents: bytes | None, name: str, options: Options, unstored: str = "") -> _core.Report:
    """The report on what `contents` has, or on the file `name`."""
    if contents is not None and options.get("config") is None:
        options["config"] = "none"
    check_name(name)
    result = _core.analyze(["analyze", *arguments(options), "--", name], contents, unstored)
    if isinstance(result, _core.Failure):
        raise error_of(result, name)
    return result


def check(options: Options) -> None:
    """Raises what any analysis with these options would raise, before there is a model."""
    failure = _core.check(["analyze", *arguments(options), "--", "-"])
    if failure is not None:
        raise error_of(failure, "-")


def _path(model: Path) -> str:
    path = os.fsdecode(model)
    if not path:
        raise ValueError("the path of the model is empty")
    if path == "-":
        raise ValueError("'-' means standard input to the command alone; pass what "
                         "sys.stdin.buffer.read() gives, or './-' for a file of that name")
    return path


def contents_of(model: bytes | bytearray | memoryview | ModelProto) -> bytes:
    """What a file of the model would hold."""
    if isinstance(model, bytes):
        return model
    if isinstance(model, (bytearray, memoryview)):
        return bytes(model)
    if not hasattr(model, "SerializeToString"):
        raise TypeError("expected a path, bytes or an onnx.ModelProto; got "
                        f"{type(model).__name__}")
    try:
        contents = model.SerializeToString()
    except Exception as error:
        raise ValueError("the ModelProto cannot be serialized (protobuf ends at 2 GiB); save it "
                         "with external data and analyze the file") from error
    if not isinstance(contents, bytes):
        raise TypeError("expected bytes from SerializeToString(); got "
                        f"{type(contents).__name__}")
    return contents
