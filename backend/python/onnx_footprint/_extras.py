"""Packages that parts of this one need, and that are there if they were asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Around imports: one that fails says which extra of the package brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is not installed; the extra onnx-footprint[{name}] brings it",
            name=error.name) from None
