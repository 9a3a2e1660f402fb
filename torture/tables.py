"""After a campaign: the tables that Spark makes of the archive, against the server's counters and the clients' history.
It only reads what servers that are gone have left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from penstock.pipeline.archive import BadArchive
from penstock.pipeline.jobs.run import Pipeline, run
from penstock.pipeline.jobs.tables import open_tables
from penstock.pipeline.lake import Lake
from penstock.pipeline.quality import LawsBroken, Ledger
from penstock.pipeline.session import QUICK, default_master, session
from torture.agreement import Row, compared, told
from torture.crowd.history import History

LIVES = """
    SELECT md5(f.body), l.size, l.outcome, l.reason, l.deliveries, l.dialect, l.life_us
    FROM silver.lives l JOIN bronze.facts f ON f.message_seq = l.message_seq AND f.fact = 'published'
"""
TOLD = {
    "published": "SELECT dialect, count(*) FROM silver.lives GROUP BY dialect",
    "delivered": "SELECT dialect, count(*) FROM silver.attempts GROUP BY dialect",
}

Queues = Sequence[Mapping[str, Any]]


class Tables:
    """One Spark session, for as many directories as one likes. `queues` is what a server said of them when everything
    had ended and was archived."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def differences(self, data: Path, history: History, queues: Queues) -> list[str]:
        """Of every message."""
        broken = self.totals(data, history, queues)
        return broken or [*compared([Row(*row) for row in self._asked(LIVES)], history)]

    def totals(self, data: Path, history: History, queues: Queues) -> list[str]:
        """Only of sums: for a history that forgets what has ended."""
        lake = Lake(data / "lake")
        try:
            run(Pipeline(self._spark, data / "archive", lake, _silent, ledger=lambda taken: Ledger(0, queues)))
        except (BadArchive, LawsBroken) as error:
            return str(error).splitlines()
        open_tables(self._spark, data / "archive", lake, lake.manifest())
        return [words for what, query in TOLD.items() for words in told(what, dict(self._asked(query)), history)]

    def _asked(self, query: str) -> list[tuple[Any, ...]]:
        columns = self._spark.sql(query).toArrow().columns
        return [*zip(*[column.to_pylist() for column in columns], strict=True)]


def _silent(title: str, number: int, total: int) -> None:
    """Nobody watches."""


@contextmanager
def opened() -> Iterator[Tables]:
    with session(default_master(), "1g", QUICK) as spark:
        yield Tables(spark)
