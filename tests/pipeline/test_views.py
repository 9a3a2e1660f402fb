"""Which tables a query speaks of: those that are opened for it."""

from __future__ import annotations

import pytest

from penstock.pipeline.histogram import FUNCTION_NAME
from penstock.pipeline.jobs.tables import names_in
from penstock.pipeline.views import VIEWS, named


def test_a_table_is_named_with_all_that_it_is_made_from() -> None:
    assert named("select 1 from silver.queues") == {"silver.queues", "lake.names"}
    assert named("gold.cost") == {"gold.cost", "lake.tally", "silver.queues", "lake.names"}
    assert {"bronze.facts", "lake.archive", "asof.messages"} < named("asof.queues")


@pytest.mark.parametrize("query", ["SELECT * FROM Silver.Queues", "with a as (table `silver` . `queues`) table a"])
def test_it_may_be_written_in_any_way(query: str) -> None:
    assert names_in(query) == {"silver.queues", "lake.names"}


@pytest.mark.parametrize("query", ["show tables in gold", "describe silver.lives", "/* all */ select 1", "values 1"])
def test_what_is_no_plain_question_may_mean_any(query: str) -> None:
    assert names_in(query) is None


def test_a_function_is_named_too() -> None:
    assert names_in("select HISTOGRAM_percentile(map(1, 2L), 0.5D)") == {FUNCTION_NAME}


def test_a_name_in_a_text_costs_a_table_and_no_more() -> None:
    assert names_in("select 'silver.queues'") == {"silver.queues", "lake.names"}


def test_every_view_knows_what_it_is_made_from() -> None:
    for name in VIEWS:
        assert any(below.startswith("lake.") for below in named(name)), name
