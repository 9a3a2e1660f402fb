"""`penstock import rsmq`: the queues of a Redis that RSMQ's clients have filled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from penstock.cli.flags import data_option
from penstock.cli.output import JSON, counted, output_option, print_json
from penstock.cli.program import INTERRUPTED, WithExamples
from penstock.cli.rsmq_store import NAMESPACE
from penstock.codecs import names
from penstock.server import exits

if TYPE_CHECKING:
    from penstock.cli.intake import Source, Tally
    from penstock.cli.rsmq_source import Moved, RsmqSource

RSMQ: Final = "rsmq"


@click.command(
    RSMQ,
    cls=WithExamples,
    examples=[
        "penstock import rsmq redis://localhost:6379 --dry-run",
        "penstock import rsmq redis://localhost:6379",
        "penstock import rsmq redis://:secret@cache.example/2 --queue orders --queue letters",
    ],
)
@click.argument("url")
@click.option("--queue", "queues", multiple=True, help="Only this queue, and not all of them. May be repeated.")
@click.option("--namespace", default=NAMESPACE, show_default=True, help="What the names of its keys begin with.")
@click.option("--dry-run", is_flag=True, help="Change nothing; say how many would be imported. Needs no server.")
@data_option
@output_option
def import_rsmq(url: str, queues: tuple[str, ...], namespace: str, dry_run: bool, data: str, output: str) -> int:
    """Copy the queues of the Redis at URL: ids, bodies, when each is visible, how often and when first it was received;
    and of each queue its attributes, times and totals.

    Stop its clients first. The Redis is only read. It may be stopped, or fail, at any time and be run again: what a
    queue has or had already is passed over, unless it was deleted since. A queue that is there keeps its attributes.
    """
    from penstock.cli.intake import take_in
    from penstock.cli.resp_client import RespClient
    from penstock.cli.rsmq_source import RsmqSource

    with RespClient(url) as client:
        store = RsmqSource(client, namespace, [queue.encode("utf-8", "surrogateescape") for queue in queues])
        tally = take_in(_source(store), data, dry_run)
        place = client.place.shown()
    if output == JSON:
        print_json({"format": RSMQ, "place": place, "dry_run": dry_run, **_shape(tally, store)})
    else:
        _print(tally, store, place, dry_run)
    return INTERRUPTED if tally.interrupted else exits.CLEAN


def _source(store: RsmqSource) -> Source[Moved]:
    from penstock.cli.intake import Source
    from penstock.cli.rsmq_source import form_of, own_number

    return Source(store.ids(), store.rows, form_of, own_number, store.forms(), {"dialect": RSMQ})


def _shape(tally: Tally, store: RsmqSource) -> dict[str, Any]:
    from penstock.cli.intake import shape_of

    rows = [
        {"queue": names.show(queue), "messages": count, "created": queue in tally.made}
        for queue, count in tally.by_queue.items()
    ]
    return {**shape_of(tally), "gone": store.gone, "queues": rows}


def _print(tally: Tally, store: RsmqSource, place: str, dry_run: bool) -> None:
    from penstock.cli.intake import print_tally

    print_tally(tally, place, dry_run)
    kept = [names.show(queue) for queue in tally.by_queue if queue not in tally.made]
    if kept:
        click.echo(f"There already, with their own attributes: {', '.join(kept)}.", err=True)
    if store.gone:
        click.echo(f"Left out: {counted(store.gone, 'id')} without a body.", err=True)
