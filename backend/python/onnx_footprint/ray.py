"""Many models on a Ray cluster.

    import ray.data
    from onnx_footprint import ray as footprint_ray
    models = ray.data.read_binary_files("registry/", include_paths=True)
    footprint_ray.analyze(models, "bytes", name_column="path").write_parquet("figures")

The workers need this package. A batch of rows is in memory at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from . import rows
from ._options import Options

if TYPE_CHECKING:
    import pyarrow
    from ray.data import Dataset


def analyze(models: Dataset, column: str = "path", *, name_column: str | None = None,
            report: bool = False, batch_size: int = 32, **options: Unpack[Options]) -> Dataset:
    """One row of figures per model; see rows.schema() for the columns.

    `column` has paths that the workers can open, or the contents of .onnx files, which
    `name_column` names.
    """
    # What a file read later has is not known yet; an error in its row says it then.
    known = models.schema(fetch_if_missing=False)
    has_paths = known is not None and (column, "string") in zip(known.names, map(str, known.types))
    rows.check(options, report, column, name_column, has_paths)

    def analyze_batch(batch: pyarrow.Table) -> pyarrow.Table:
        return rows.analyze_table(batch, column, name_column, report, options)

    return models.map_batches(analyze_batch, batch_format="pyarrow", batch_size=batch_size)
