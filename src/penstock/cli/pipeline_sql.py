"""`penstock pipeline sql`: one question, its rows as a table or as lines of JSON."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from penstock.cli.output import JSON, Column, print_json_line, print_table, printable
from penstock.cli.pipeline_options import Place, in_words, place, settings
from penstock.cli.program import BadUsage, Failure
from penstock.pipeline.lake import Lake, Manifest
from penstock.pipeline.session import default_master, session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NUMBERS: Final = ("bigint", "int", "smallint", "tinyint", "double", "float", "decimal")


def sql(
    query: str,
    data: str,
    archive: Path | None,
    lake: Path | None,
    at: int | None,
    limit: int | None,
    master: str | None,
    memory: str,
    conf: tuple[str, ...],
    output: str,
) -> None:
    where = place(data, archive, lake)
    with in_words():
        manifest = Lake(where.lake).manifest()
        if not manifest.batch:
            raise Failure(f"there are no tables in {where.lake} yet.", "`penstock pipeline run` makes them.")
        with session(master or default_master(), memory, settings(conf, where)) as spark:
            tables = partial(_open, spark, where, manifest, at)
            _show(_asked(spark, query, tables), limit, output)


def _open(spark: SparkSession, where: Place, manifest: Manifest, at: int | None, names: set[str] | None) -> None:
    from penstock.pipeline.jobs.tables import open_tables

    open_tables(spark, where.archive, Lake(where.lake), manifest, at, names)


def _asked(spark: SparkSession, query: str, open_tables: Callable[[set[str] | None], None]) -> DataFrame:
    """Raises BadUsage where the query is no query. One that is not understood may mean a table in a way that was not
    seen, so it has another chance with all of them."""
    from pyspark.errors import AnalysisException, PySparkException

    from penstock.pipeline.jobs.tables import names_in

    try:
        open_tables(names_in(query))
        with suppress(AnalysisException):
            return spark.sql(query)
        open_tables(None)
        return spark.sql(query)
    except PySparkException as error:
        raise BadUsage(f"the query is wrong: {printable(_first_line(error))}") from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _show(found: DataFrame, limit: int | None, output: str) -> None:
    rows = islice(_rows(found), limit)
    if output == JSON:
        for row in rows:
            print_json_line(dict(zip(found.columns, map(_plain, row), strict=True)))
        return
    columns = [Column(name, right=kind.startswith(_NUMBERS)) for name, kind in found.dtypes]
    print_table(columns, [[_cell(value) for value in row] for row in rows])


def _rows(found: DataFrame) -> Iterator[Any]:
    from pyspark.errors import PySparkException

    try:
        yield from found.toLocalIterator()
    except PySparkException as error:
        raise Failure(f"the query failed: {printable(_first_line(error))}") from None


def _plain(value: Any) -> Any:
    """As JSON has it. Bytes that are not UTF-8 become base64."""
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, bytes | bytearray):
        return _text(bytes(value))
    if isinstance(value, date | datetime):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(data).decode()


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    plain = _plain(value)
    return printable(plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False))
