"""Many models on a Spark cluster.

    from onnx_footprint import spark
    paths = session.read.format("binaryFile").load("registry/*.onnx").select("path", "content")
    spark.analyze(paths, "content", name_column="path", mode="inference").write.parquet("figures")

The executors need this package. A batch of rows is in memory at a time: where `column` has whole
files, set spark.sql.execution.arrow.maxRecordsPerBatch so low that they fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Unpack

from . import rows
from ._extras import extra
from ._options import Options

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import DataFrame

TYPES = {"string": "string", "int64": "bigint"}


def analyze(models: DataFrame, column: str = "path", *, name_column: str | None = None,
            report: bool = False, **options: Unpack[Options]) -> DataFrame:
    """One row of figures per model; see rows.schema() for the columns.

    `column` has paths that the executors can open, or the contents of .onnx files, which
    `name_column` names.
    """
    chosen = models.select(*([column] if name_column is None else [column, name_column]))
    has_paths = chosen.schema.fields[0].dataType.typeName() == "string"
    rows.check(options, report, column, name_column, has_paths)

    def analyze_frames(frames: Iterator[pandas.DataFrame]) -> Iterator[pandas.DataFrame]:
        with extra("spark"):
            import pandas
            import pyarrow

        nullable = {pyarrow.int64(): pandas.Int64Dtype()}
        for frame in frames:
            table = pyarrow.Table.from_pandas(frame, preserve_index=False)
            found = rows.analyze_table(table, column, name_column, report, options)
            yield found.to_pandas(types_mapper=nullable.get)

    columns = ", ".join(f"{field.name} {TYPES[str(field.type)]}" for field in rows.schema(report))
    return chosen.mapInPandas(analyze_frames, columns)
