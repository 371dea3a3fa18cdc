"""Tables of a report as data frames, their columns those of the command's CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ._core import CategoryBytes, Report
from ._extras import extra

if TYPE_CHECKING:
    import pandas

Columns = dict[str, list[Any]]
CATEGORIES: tuple[str, ...] = CategoryBytes.__match_args__
LISTS = {"shape", "saved_by"}


def _columns(rows: Sequence[Any], *attributes: str, **paths: str) -> Columns:
    """Attributes of the rows under their own names, or under that of a keyword."""
    paths = {**dict(zip(attributes, attributes)), **paths}
    return {name: list(map(attrgetter(path), rows)) for name, path in paths.items()}


def _tensors(report: Report) -> Columns:
    rows = report.tensors
    columns = _columns(rows, "name", "dtype", "shape", "shape_expression", "bytes",
                       "bytes_expression", "category", "layer", "producer", "saved_by",
                       "first_step", "last_step", "storage", "certainty")
    columns["shape"] = [row.shape if row.has_shape else None for row in rows]
    return columns


def _storages(report: Report) -> Columns:
    return _columns(report.storages, "id", "name", "bytes", "category", "layer", "first_step",
                    "last_step", "reason", "certainty")


def _layers(report: Report) -> Columns:
    return _columns(report.layers, "path", **{"class": "class_name"}, depth="depth",
                    parameter_count="parameter_count",
                    **{name: f"own.{name}" for name in CATEGORIES},
                    **{f"total_{name}": f"total.{name}" for name in CATEGORIES})


def _timeline(report: Report) -> Columns:
    rows = [(timeline.run, index, step) for timeline in report.timelines
            for index, step in enumerate(timeline.steps)]
    return {"run": [run for run, _, _ in rows], "step": [index for _, index, _ in rows],
            **_columns([step for _, _, step in rows], "phase", "name", "node", "layer",
                       "live_bytes", **{name: f"bytes.{name}" for name in CATEGORIES})}


def _sweep(report: Report) -> Columns:
    if report.sweep is None:
        raise ValueError("no dimension has several values; ask for dim={NAME: range(1, 65)}")
    figures = _columns(report.sweep.points, "saved_bytes", "training_peak_bytes",
                       "inference_peak_bytes", "activation_peak_bytes", "error")
    return {report.sweep.name: [point.value for point in report.sweep.points], **figures}


TABLES: dict[str, Callable[[Report], Columns]] = {
    "tensors": _tensors, "storages": _storages, "layers": _layers, "timeline": _timeline,
    "sweep": _sweep,
}


def to_pandas(report: Report, table: str) -> pandas.DataFrame:
    """Integers as Int64, which is exact and knows <NA>; text as str; lists as objects."""
    with extra("pandas"):
        import pandas

    if table not in TABLES:
        raise ValueError(f"no such table: {table!r}; there are {', '.join(TABLES)}")
    columns = TABLES[table](report)
    return pandas.DataFrame({name: _series(name, values) for name, values in columns.items()})


def _series(name: str, values: list[Any]) -> pandas.Series[Any]:
    import pandas

    if name in LISTS:
        return pandas.Series(values, dtype="object")
    if all(isinstance(value, str) for value in values):
        return pandas.Series(values, dtype="str")
    return pandas.Series(pandas.array(values, dtype="Int64"))
