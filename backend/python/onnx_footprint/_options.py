"""Keyword arguments in the words of the command line."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

Size = int | str
"""Bytes: an integer, or text as in "24GiB" or "500MB"."""


class Options(TypedDict, total=False):
    """What an analysis may be asked for: the options of `footprint analyze`, by their names.

    `footprint analyze --help` says what each of them means.
    """

    mode: Literal["training", "inference", "both"]
    dim: Mapping[str, int | str | Sequence[int]]
    """Bindings of dimensions: {"batch": 32}; a range or list of values, or "1..256", sweeps."""
    input: Mapping[str, Sequence[int | str]]
    """Shapes of inputs: {"x": [32, 3, 224, 224]}."""
    input_value: Mapping[str, Any]
    """Contents of inputs that decide shapes: numbers, nested lists, arrays, or "@FILE"."""
    config: str | os.PathLike[str]
    strict: bool
    fit: str
    budget: Mapping[str, Size]
    """The most that figures may be: {"peak": "24GiB"}; Report.gates says whether they are."""
    device: str
    device_file: str | os.PathLike[str]
    device_memory: Size
    optimizer: str
    precision: Literal["fp32", "bf16", "fp16", "amp-bf16", "amp-fp16", "mixed:master"]
    grad_scaler: Literal["auto", "on", "off"]
    loss: Literal["auto", "none", "cross-entropy", "mse", "sum"]
    freeze: str | Sequence[str]
    """Globs of parameters that are not trained."""
    attention: Literal["auto", "math", "efficient", "flash", "cudnn"]
    modules: Literal["recomposed", "as-exported"]
    checkpoint: str
    accumulate: int
    step_inputs: Literal["kept", "dropped"]
    allocator: Literal["native", "expandable"]
    accounting: Literal["autograd", "graph", "textbook"]
    params: int | str
    runtime: Literal["both", "ideal", "onnxruntime"]
    graph_optimization: Literal["none", "all"]


def arguments(options: Mapping[str, Any]) -> list[str]:
    """Options as the command line spells them: {"dim": {"batch": 2}} is ["--dim=batch=2"]."""
    spelled: list[str] = []
    for name, value in options.items():
        if name not in Options.__annotations__:
            near = difflib.get_close_matches(name, Options.__annotations__, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"there is no option {name!r}{hint}")
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            spelled.append(option)
        else:
            spelled += [f"{option}={text}" for text in _texts(name, value)]
    for text in spelled:
        check_name(text)
    return spelled


def check_name(text: str) -> None:
    """Refuses what open() refuses as a name."""
    os.fsencode(text)
    if "\0" in text:
        raise ValueError(f"embedded null character in {text!r}")


def _texts(name: str, value: Any) -> Iterable[str]:
    _refuse_bytes(name, value)
    if isinstance(value, Mapping):
        return [f"{key}={_named(name, item)}" for key, item in value.items()]
    if isinstance(value, (str, os.PathLike)):
        return [os.fsdecode(value)]
    if isinstance(value, Iterable):
        return [str(item) for item in value]
    return [str(value)]


def _named(option: str, value: Any) -> str:
    """The value behind NAME=."""
    if isinstance(value, str):
        return value
    if option == "input_value":
        return json.dumps(value.tolist() if hasattr(value, "tolist") else value)
    _refuse_bytes(option, value)
    if option == "input":
        return "[" + ",".join(str(dim) for dim in value) + "]"
    if isinstance(value, Iterable):
        return ",".join(str(item) for item in value)
    return str(value)


def _refuse_bytes(option: str, value: Any) -> None:
    """They would be taken for a list of numbers."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"{option}: expected text or numbers, got {type(value).__name__}")
