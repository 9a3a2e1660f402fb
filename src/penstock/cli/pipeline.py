"""`penstock pipeline`: the history of a store in tables. PySpark is met only where a command needs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from penstock.cli.confirming import yes_option
from penstock.cli.durations import Duration
from penstock.cli.flags import data_option
from penstock.cli.output import output_option
from penstock.cli.paths import QUEUE
from penstock.cli.pipeline_options import COUNTERS, Moment, ReplayName
from penstock.cli.program import Program
from penstock.cli.rates import Rate
from penstock.model.limits import DAY_US

F = TypeVar("F", bound=Callable[..., Any])

_EVERY_MOST_US: Final = int(DAY_US)


def _lake_options(command: F) -> F:
    command = click.option(
        "--lake", metavar="DIR", type=click.Path(path_type=Path), help="Where the tables are.  [default: DATA/lake]"
    )(command)
    command = click.option(
        "--archive",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Where the archivist puts its files.  [default: DATA/archive]",
    )(command)
    return data_option(command)


def _spark_options(command: F) -> F:
    for decorate in (
        click.option("--conf", metavar="KEY=VALUE", multiple=True, help="A setting of Spark. May be repeated."),
        click.option("--memory", metavar="SIZE", default="2g", show_default=True, help="For Spark's driver."),
        click.option(
            "--master",
            metavar="MASTER",
            help="Where Spark runs: local[2,4], spark://HOST:PORT, yarn, …  [default: all processors of this machine]",
        ),
    ):
        command = decorate(command)
    return command


@click.group(
    cls=Program,
    examples=[
        "penstock pipeline run",
        'penstock pipeline sql "select outcome, count(*) from silver.lives group by outcome"',
    ],
)
def pipeline() -> None:
    """Everything that ever happened, in tables, through PySpark.

    The server's archivist writes every fact to the archive. `run` makes tables of it, the lake; `sql` asks them. It
    needs the extra `penstock[spark]`, and Java: the system's, or the one that `penstock[java]` brings. What the
    tables and their columns mean is in docs/pipeline.md.
    """


@pipeline.command(
    examples=[
        "penstock pipeline run",
        "penstock pipeline run --every 30s",
        "penstock pipeline run --master spark://10.0.0.1:7077 --lake /mnt/shared/lake --archive /mnt/shared/archive",
    ]
)
@_lake_options
@click.option("--once", is_flag=True, help="Take in what is there, then end. This is the default.")
@click.option("--every", type=Duration(_EVERY_MOST_US), metavar="DURATION", help="Go on, so often, until stopped.")
@click.option(
    "--keep-days",
    type=click.IntRange(min=0),
    metavar="N",
    default=0,
    help="Forget messages that ended longer ago: their facts, lives and attempts.  [default: 0, none]",
)
@click.option("--compact", is_flag=True, help="Compact everything that can be, now.")
@click.option(
    "--counters",
    type=COUNTERS,
    metavar="FILE",
    help="Compare with what `penstock queue list --output json` said, not with what the server on DATA says; - reads "
    "stdin.",
)
@_spark_options
@output_option
def run(once: bool, every: int | None, **said: Any) -> int:
    """Take what is new in the archive into the tables.

    Each run reads the segments that it has not seen, writes one batch of every table and checks the laws; only then the
    batch counts, all of it at once. A server on DATA is asked to end its segment first, and the totals are compared
    with what it counts at that very fact. A run that is killed has changed nothing: run it again. A broken law makes
    exit code 1, and the tables stay as they were.
    """
    from penstock.cli import pipeline_run

    if once and every is not None:
        raise click.UsageError("--once and --every exclude each other.")
    return pipeline_run.run(every_us=every, **said)


@pipeline.command(
    examples=[
        'penstock pipeline sql "select queue, minute, published, backlog from gold.queue_minute order by minute"',
        'penstock pipeline sql --at 2026-01-02T00:03:00Z "select * from asof.queues"',
        'penstock pipeline sql --output json "select * from gold.stuck"',
    ]
)
@click.argument("query")
@_lake_options
@click.option(
    "--at", type=Moment(), metavar="TIME", help="The moment that `asof` tables show.  [default: the last fact]"
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Print at most so many rows.")
@_spark_options
@output_option
def sql(**said: Any) -> None:
    """Ask the tables, in Spark's SQL.

    As JSON each row is an object of its own, one a line.
    """
    from penstock.cli import pipeline_sql

    pipeline_sql.sql(**said)


@pipeline.command(
    examples=[
        "penstock pipeline report -o report.html",
        "penstock pipeline report --queue orders --queue mails --from 2026-01-02 --to 2026-01-03 -o yesterday.html",
    ]
)
@click.option("--queue", type=QUEUE, multiple=True, help="Only this one. May be repeated.  [default: all]")
@click.option("--from", "from_us", type=Moment(), metavar="TIME", help="Since when.  [default: the first fact]")
@click.option("--to", "to_us", type=Moment(), metavar="TIME", help="Until when.  [default: the last fact]")
@click.option(
    "-o",
    "--file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    default="report.html",
    show_default=True,
    help="The page that is written.",
)
@_lake_options
@_spark_options
@output_option
def report(**said: Any) -> None:
    """Write a page with charts: throughput, waits, work, backlog, trouble, what is stuck, the slowest messages.

    It is one HTML file that needs no network and nothing beside it. Times are UTC.
    """
    from penstock.cli import pipeline_report

    pipeline_report.report(**said)


@pipeline.command(
    examples=[
        "penstock pipeline replay --where \"queue = 'orders' and outcome = 'dropped'\" --to orders --dry-run",
        "penstock pipeline replay --where \"queue = 'orders' and date = '2026-01-02'\" --to orders.again --rate 500/s",
        "penstock pipeline replay --where \"string(body) like '%timeout%'\" --to orders --id timeouts --yes",
    ]
)
@click.option(
    "--where", required=True, metavar="CONDITION", help="Which messages: SQL over silver.lives, `body` and `key`."
)
@click.option("--to", required=True, type=QUEUE, help="The queue they are published to. It must be there.")
@click.option(
    "--id", "name", type=ReplayName(), metavar="NAME", help="The replay's name.  [default: made from --where and --to]"
)
@click.option("--rate", type=Rate(), help="No faster than this, such as 500/s or 30/m.")
@click.option("--dry-run", is_flag=True, help="Publish nothing; say how many there are, and show a few.")
@yes_option
@click.option("--url", metavar="URL", help="The server's glovebox.  [default: that of the server on DATA]")
@click.option("--token", metavar="TOKEN", envvar="PENSTOCK_TOKEN", show_envvar=True, help="To log in with.")
@_lake_options
@_spark_options
@output_option
def replay(**said: Any) -> int:
    """Publish a slice of history once more, each message exactly once.

    Body, key and priority are those of the past; delay, time to live and lease are the queue's. It shows what it is
    about to publish, and asks. What the condition chooses is kept in the lake under the replay's name, and the server
    remembers how far that was published: a replay that was stopped or killed goes on with the same command, also days
    later, and one that is done publishes nothing more. The same messages once more need another --id. It stops where
    the queue is full. Exits 1 if bodies of chosen messages are not in the archive.
    """
    from penstock.cli import pipeline_replay

    return pipeline_replay.replay(**said)


@pipeline.command(examples=["penstock pipeline status", "penstock pipeline status --output json"])
@_lake_options
@output_option
def status(**said: Any) -> None:
    """Say what is archived, what is in the tables, and how far these are behind. Needs no Spark."""
    from penstock.cli import pipeline_status

    pipeline_status.status(**said)
