"""An archive that was written once by the archivist itself, and must be taken in for ever."""

from __future__ import annotations

import shutil
from pathlib import Path

from pyspark.sql import SparkSession

from tests.history.test_golden import V1, expected
from tests.pipeline.house import House


def test_version_1_becomes_tables(spark: SparkSession, tmp_path: Path) -> None:
    shutil.copytree(V1, tmp_path / "archive")
    house = House(spark, tmp_path)
    house.run()
    facts = expected()
    assert [row["seq"] for row in house.rows("SELECT seq FROM bronze.facts ORDER BY seq")] == [
        row["seq"] for row in facts
    ]
    bodies = [row["body"] for row in facts if row["fact"] == "published"]
    found = house.rows("SELECT body FROM bronze.facts WHERE fact = 'published' ORDER BY seq")
    assert [bytes(row["body"]) for row in found] == bodies
    lives = house.rows("SELECT * FROM silver.lives")
    assert len(lives) == len({row["message_seq"] for row in facts if row["message_seq"]})
