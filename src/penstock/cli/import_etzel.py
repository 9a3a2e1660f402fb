"""`penstock import etzel`: the messages of a file of etzel's format."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.flags import data_option
from penstock.cli.formats import ETZEL, by_queue
from penstock.cli.output import JSON, output_option, print_json
from penstock.cli.paths import QUEUE
from penstock.cli.program import INTERRUPTED, WithExamples
from penstock.server import exits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.cli.etzel_file import StoreFile
    from penstock.cli.intake import Source
    from penstock.codecs.etzel_store import Row
    from penstock.codecs.ids import Ids


@click.command(
    ETZEL,
    cls=WithExamples,
    examples=[
        "penstock import etzel orders.etzel --dry-run",
        "penstock import etzel orders.etzel",
        "penstock import etzel orders.etzel --queue orders.again",
    ],
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--queue", type=QUEUE, help="All into this queue, and not each into the one that the file names.")
@click.option("--dry-run", is_flag=True, help="Change nothing; say how many would be imported. Needs no server.")
@data_option
@output_option
def import_etzel(file: str, queue: bytes | None, dry_run: bool, data: str, output: str) -> int:
    """Publish the messages of FILE in the queues that they were in: body, delay, time to live, timeout, error count.

    The whole file is checked before anything is changed. It may be stopped, or fail, at any time and be run again: what
    its queue has or had already is passed over, unless it was deleted since. A queue that is not there is made.
    """
    from penstock.cli.etzel_file import opened
    from penstock.cli.intake import print_tally, shape_of, take_in

    with opened(file) as store:
        tally = take_in(_source(store, queue), data, dry_run)
    if output == JSON:
        queues = by_queue(tally.by_queue.items())
        print_json(
            {"format": ETZEL, "file": os.fsdecode(file), "dry_run": dry_run, **shape_of(tally), "queues": queues}
        )
    else:
        print_tally(tally, file, dry_run)
    return INTERRUPTED if tally.interrupted else exits.CLEAN


def _source(store: StoreFile, queue: bytes | None) -> Source[Row]:
    from penstock.cli.intake import Source

    def rows() -> Iterator[Row]:
        return iter(store.rows()) if queue is None else (row._replace(queue=queue) for row in store.rows())

    return Source([row.uid for row in store.rows()], rows, form_of, own_number)


def own_number(ids: Ids, uid: bytes) -> int:
    """Of the message that shows itself under this uid."""
    from penstock.codecs.etzel import uid_seq

    return int(uid_seq(ids, uid))


def form_of(row: Row) -> dict[str, Any]:
    """As the server's API wants it. A timeout of 0 is left to the queue."""
    return {
        "body64": base64.b64encode(row.item).decode(),
        "foreign_id": row.uid.decode(),
        "delay_s": row.delay_s,
        "ttl_s": row.expires_s,
        "lease_s": row.timeout_s or None,
        "deliveries": row.status,
    }
