"""One row per model, in columns of Arrow: what the adapters of engines write.

A model that cannot be analyzed is a row with its `error`; its figures are null. `broken_budgets`
counts those of `budget`, and the device if a step does not fit it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _analyze
from ._core import FIGURES, Report
from ._errors import UsageError
from ._extras import extra
from ._options import Options, arguments

if TYPE_CHECKING:
    import pyarrow


def column_of(figure: str) -> str:
    """The column of a figure that budgets name: "optimizer-state" is optimizer_state_bytes."""
    return figure.replace("-", "_") + "_bytes"


def schema(report: bool = False) -> pyarrow.Schema:
    """The columns of a row; with `report` the JSON document is one of them."""
    with extra("spark"):
        import pyarrow

    fields = [pyarrow.field("model", pyarrow.string()), pyarrow.field("error", pyarrow.string()),
              pyarrow.field("parameter_count", pyarrow.int64()),
              *(pyarrow.field(column_of(figure), pyarrow.int64()) for figure in FIGURES),
              pyarrow.field("device_needed_bytes", pyarrow.int64()),
              pyarrow.field("broken_budgets", pyarrow.int64())]
    return pyarrow.schema(fields + [pyarrow.field("report", pyarrow.string())] * report)


def row(model: Any, name: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """The row of one model. `name` is that of a model that is no path."""
    try:
        found: Report = _analyze.analyze(model, name=name, **options)
    except Exception as error:  # of any kind: one model of many must not end the others
        return {"model": model if isinstance(model, str) else name,
                "error": str(error) or type(error).__name__}
    figures = {column_of(name): value for name, value in found.figures().items()}
    return {"model": found.model_path, "error": None, "parameter_count": found.parameter_count,
            **figures, "device_needed_bytes": found.device and found.device.needed_bytes,
            "broken_budgets": sum(not gate.passed for gate in found.gates),
            "report": found.to_json()}


def analyze_table(table: pyarrow.Table, column: str, name_column: str | None, report: bool,
                  options: Mapping[str, Any]) -> pyarrow.Table:
    """A table of paths or contents in `column` becomes one of figures, row by row."""
    import pyarrow

    models = table[column].to_pylist()
    names = table[name_column].to_pylist() if name_column else [None] * len(models)
    columns = schema(report)
    rows = (row(model, name, options) for model, name in zip(models, names))
    kept = [{name: one.get(name) for name in columns.names} for one in rows]
    return pyarrow.Table.from_pylist(kept, schema=columns)


def check(options: Options, report: bool, column: str, name_column: str | None,
          has_paths: bool) -> None:
    """Refuses what would be wrong in every row, before a job begins."""
    if name_column == column:
        raise ValueError("name_column: expected another column than that of the contents")
    if name_column is not None and has_paths:
        raise ValueError(f"name_column: the paths in {column!r} are names already; leave it out")
    try:
        _analyze.check(options)
    except UsageError as error:
        # Those who analyze may have files that are not here.
        if any(found.kind != "file-access" for found in error.diagnostics):
            raise
    if not report and any(_is_table(text) for text in arguments(options)):
        raise ValueError("a row has no columns for a fit or several values of a dimension; ask "
                         "for report=True, which has them, or for one value")


def _is_table(argument: str) -> bool:
    option, _, value = argument.partition("=")
    value = value.rpartition("=")[2]
    return option == "--fit" or option == "--dim" and ("," in value or ".." in value)
