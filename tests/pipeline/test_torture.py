"""A short campaign of kills in all dialects, and its tables: what Spark makes of the archive is what the server counted
and the clients were told; and where one of them is off by one message, that is found."""

from __future__ import annotations

import copy
from pathlib import Path

from pyspark.sql import SparkSession

from torture import kill
from torture.crowd.history import History
from torture.kill import Queues
from torture.tables import Tables

KILLS = 2


class Tampering:
    """Compares, and then once more with a message too many."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.found: list[str] = []

    def differences(self, data: Path, history: History, queues: Queues) -> list[str]:
        broken = self._tables.differences(data, history, queues)
        one_more = copy.deepcopy(queues)
        one_more[0]["counts"]["published"] += 1
        self.found = self._tables.differences(data, history, one_more)
        return broken


def test_tables_counters_and_history_agree_after_kills_and_one_that_is_off_is_found(spark: SparkSession) -> None:
    tables = Tampering(Tables(spark))
    outcome = kill.campaign(KILLS, seed=7, tables=tables)
    assert outcome.broken == ()
    assert outcome.compared == 1
    [words] = tables.found
    assert "the totals equal the server's counters" in words
