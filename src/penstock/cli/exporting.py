"""`penstock export`: what lives in a journal, into a file of another format. The journal is only read."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from penstock.cli.flags import data_option
from penstock.cli.formats import by_queue, format_option
from penstock.cli.output import JSON, counted, output_option, print_json, printable, size_cell
from penstock.cli.paths import QUEUE
from penstock.cli.program import WithExamples
from penstock.cli.progress import progress

if TYPE_CHECKING:
    from penstock.cli.survivors import Survivors
    from penstock.codecs.etzel_store import Row

CHUNK: Final = 1_000  # rows that the bar takes for one part of the work


@click.command(
    cls=WithExamples,
    examples=[
        "penstock export --format etzel orders.etzel --queue orders",
        "penstock export --format etzel everything.etzel --data /var/lib/penstock --force",
    ],
)
@click.argument("file", type=click.Path(dir_okay=False))
@format_option
@click.option("--queue", "queues", type=QUEUE, multiple=True, help="Only of this queue. May be repeated.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@data_option
@output_option
def export(file: str, file_format: str, queues: tuple[bytes, ...], force: bool, data: str, output: str) -> None:
    """Write all live messages, or those of some queues, into FILE: ready, delayed, parked and leased.

    It reads the journal, so it needs no server; beside one it takes what was committed last, and changes nothing. FILE
    appears when it is complete. What the format has no place for is counted; the queues themselves, their policies
    and pauses, are not in it.
    """
    from penstock.cli import etzel_file
    from penstock.cli.directory import known_ids
    from penstock.cli.reading import read_journal
    from penstock.cli.survivors import Survivors

    if not force:
        etzel_file.refuse_to_overwrite(file)
    survivors = Survivors(known_ids(data))
    read_journal(data, survivors.restore, survivors.learn)
    survivors.choose(queues, time.time_ns() // 1_000)
    with progress("writing") as tell:
        etzel_file.write(file, _told(survivors, tell), force)
    if output == JSON:
        print_json({"format": file_format, "file": os.fsdecode(file), **_shape(survivors)})
    else:
        _print(survivors, file)


def _told(survivors: Survivors, tell: Any) -> Iterator[Row]:
    parts = -(-len(survivors.messages) // CHUNK)
    for number, row in enumerate(survivors.rows()):
        if number % CHUNK == 0:
            tell(number // CHUNK + 1, parts)
        yield row


def _shape(survivors: Survivors) -> dict[str, Any]:
    return {
        "messages": len(survivors.messages),
        "bytes": survivors.bytes,
        "expired": survivors.expired,
        "queues": by_queue(survivors.by_queue.items()),
        "lost": [{"what": what, "messages": count} for what, count in survivors.lost.items()],
    }


def _print(survivors: Survivors, file: str) -> None:
    words = f"{counted(len(survivors.messages), 'message')}, {size_cell(survivors.bytes)}"
    click.echo(f"exported {words}, of {counted(len(survivors.by_queue), 'queue')} to {printable(file)}")
    if survivors.lost:
        lost = [f"{what} ({counted(count, 'message')})" for what, count in survivors.lost.items()]
        click.echo(f"The format has no place for: {', '.join(lost)}.", err=True)
    if survivors.expired:
        click.echo(f"Not exported: {counted(survivors.expired, 'message')} that expired meanwhile.", err=True)
