"""`penstock import`: messages from a file of another format into a running server, each once, however often it runs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from penstock.cli.flags import data_option
from penstock.cli.formats import by_queue, format_option
from penstock.cli.output import JSON, counted, output_option, print_json, printable, size_cell
from penstock.cli.paths import QUEUE, queue_path
from penstock.cli.program import INTERRUPTED, Failure, WithExamples
from penstock.cli.progress import progress
from penstock.cli.remote import Remote
from penstock.codecs import names
from penstock.server import exits

if TYPE_CHECKING:
    from penstock.cli.arrivals import Arrivals
    from penstock.cli.etzel_file import StoreFile
    from penstock.codecs.etzel_store import Row

TIMEOUT_S: Final = 60.0


class Tally:
    """What was, or would be, imported; `known` is what had come before."""

    def __init__(self) -> None:
        self.bytes = 0
        self.known = 0
        self.by_queue: Counter[bytes] = Counter()
        self.interrupted = False

    def add(self, batch: list[Row]) -> None:
        self.by_queue[batch[0].queue] += len(batch)
        self.bytes += sum(len(row.item) for row in batch)

    def words(self) -> str:
        return f"{counted(self.by_queue.total(), 'message')}, {size_cell(self.bytes)}"


@click.command(
    "import",
    cls=WithExamples,
    examples=[
        "penstock import --format etzel orders.etzel --dry-run",
        "penstock import --format etzel orders.etzel",
        "penstock import --format etzel orders.etzel --queue orders.again",
    ],
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@format_option
@click.option("--queue", type=QUEUE, help="All into this queue, and not each into the one that the file names.")
@click.option("--dry-run", is_flag=True, help="Change nothing; say how many would be imported. Needs no server.")
@data_option
@output_option
def import_messages(file: str, file_format: str, queue: bytes | None, dry_run: bool, data: str, output: str) -> int:
    """Publish the messages of FILE in the queues that they were in: body, delay, time to live, timeout, error count.

    The whole file is checked before anything is changed. It may be stopped, or fail, at any time and be run again: what
    its queue has or had already is passed over, unless it was deleted since. A queue that is not there is made.
    """
    from penstock.cli.etzel_file import opened

    with opened(file) as store:
        tally = _imported(store, queue, dry_run, data)
    if output == JSON:
        print_json({"format": file_format, "file": os.fsdecode(file), "dry_run": dry_run, **_shape(tally)})
    else:
        _print(tally, file, dry_run)
    return INTERRUPTED if tally.interrupted else exits.CLEAN


def _imported(store: StoreFile, queue: bytes | None, dry_run: bool, data: str) -> Tally:
    """Only once the import has begun is the journal read: by then all that earlier ones did stands in it."""
    from penstock.cli.arrivals import Arrivals
    from penstock.cli.directory import known_ids
    from penstock.cli.reading import read_journal

    uids = [row.uid for row in store.rows()]
    import_id = None if dry_run else Remote(data).post("/imports", {})["import_id"]
    arrivals = Arrivals(uids, known_ids(data))
    read_journal(data, arrivals.learn)
    tally = Tally()
    try:
        _publish_all(data, import_id, arrivals, _renamed(store.rows(), queue), tally)
    except KeyboardInterrupt:
        tally.interrupted = True
    except Failure as failure:
        done = f"Before that, {tally.words()} were imported; run it again for the rest."
        raise Failure(failure.message, f"{failure.advice}\n{done}".lstrip()) from None
    tally.known = arrivals.known
    return tally


def _renamed(rows: Iterable[Row], queue: bytes | None) -> Iterator[Row]:
    return iter(rows) if queue is None else (row._replace(queue=queue) for row in rows)


def _publish_all(data: str, import_id: str | None, arrivals: Arrivals, rows: Iterator[Row], tally: Tally) -> None:
    from penstock.cli.arrivals import batches

    with progress("importing") as tell:
        for batch in batches(arrivals.fresh(rows)):
            tell(tally.by_queue.total() + arrivals.known + 1, arrivals.total)
            if import_id is not None:
                _publish(data, import_id, batch)
            tally.add(batch)


def _publish(data: str, import_id: str, batch: list[Row]) -> None:
    from penstock.cli.arrivals import form_of

    queue = batch[0].queue
    form = {"import_id": import_id, "messages": [form_of(row) for row in batch]}
    Remote(data, names.show(queue)).post(queue_path(queue, "/import"), form, TIMEOUT_S)


def _shape(tally: Tally) -> dict[str, Any]:
    return {
        "messages": tally.by_queue.total(),
        "bytes": tally.bytes,
        "known": tally.known,
        "queues": by_queue(tally.by_queue.items()),
    }


def _print(tally: Tally, file: str, dry_run: bool) -> None:
    click.echo(f"{'would import' if dry_run else 'imported'} {tally.words()}, from {printable(file)}")
    for queue, count in tally.by_queue.items():
        click.echo(f"  {count:,} into {names.show(queue)}")
    if tally.known:
        click.echo(f"Passed over: {counted(tally.known, 'message')} that had been there before.", err=True)
    if tally.interrupted:
        click.echo("Interrupted; what was just under way may be imported too. Run it again for the rest.", err=True)
