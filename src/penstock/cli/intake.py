"""How messages from elsewhere get into a running server, each once, however often it is tried; and what is said of it.

Where they come from is the business of whoever calls it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic

import click

from penstock.cli.arrivals import Arrivals, R, batches
from penstock.cli.directory import known_ids
from penstock.cli.output import counted, printable, size_cell
from penstock.cli.paths import queue_path
from penstock.cli.program import Failure
from penstock.cli.progress import progress
from penstock.cli.reading import read_journal
from penstock.cli.remote import Remote
from penstock.codecs import names

if TYPE_CHECKING:
    from penstock.codecs.ids import Ids

TIMEOUT_S: Final = 60.0


@dataclass(frozen=True)
class Source(Generic[R]):
    """What is brought. `rows` may be gone through once, after all else; `queues` are made as they say, if missing."""

    uids: list[bytes]
    rows: Callable[[], Iterator[R]]
    form: Callable[[R], dict[str, Any]]
    own: Callable[[Ids, bytes], int]  # the number of the message of a store that has such a uid
    queues: Mapping[bytes, Mapping[str, Any]] = field(default_factory=dict)
    said: Mapping[str, Any] = field(default_factory=dict)  # of all messages


class Tally:
    """What was, or would be, imported; `known` is what had come before, `made` the queues that were not there."""

    def __init__(self) -> None:
        self.bytes = 0
        self.known = 0
        self.by_queue: Counter[bytes] = Counter()
        self.made: set[bytes] = set()
        self.interrupted = False

    def add(self, batch: list[R]) -> None:
        self.by_queue[batch[0].queue] += len(batch)
        self.bytes += sum(len(row.item) for row in batch)

    def words(self) -> str:
        return f"{counted(self.by_queue.total(), 'message')}, {size_cell(self.bytes)}"


def take_in(source: Source[R], data: str, dry_run: bool) -> Tally:
    """Only once the import has begun is the journal read: by then all that earlier ones did stands in it."""
    import_id = None if dry_run else Remote(data).post("/imports", {})["import_id"]
    ids = known_ids(data)
    arrivals = Arrivals(source.uids, lambda uid: source.own(ids, uid))
    read_journal(data, arrivals.restore, arrivals.learn, review=True)
    tally = Tally()
    try:
        _make_queues(data, import_id, source, arrivals, tally)
        _publish_all(data, import_id, source, arrivals, tally)
    except KeyboardInterrupt:
        tally.interrupted = True
    except Failure as failure:
        done = f"Before that, {tally.words()} were imported; run it again for the rest."
        raise Failure(failure.message, f"{failure.advice}\n{done}".lstrip()) from None
    tally.known = arrivals.known
    return tally


def _make_queues(data: str, import_id: str | None, source: Source[R], arrivals: Arrivals, tally: Tally) -> None:
    there = arrivals.queues()
    for queue, form in source.queues.items():
        if import_id is None:
            made = queue not in there
        else:
            made = _post(data, import_id, queue, source.said, [], form)["created"]
        tally.by_queue[queue] += 0
        if made:
            tally.made.add(queue)


def _publish_all(data: str, import_id: str | None, source: Source[R], arrivals: Arrivals, tally: Tally) -> None:
    with progress("importing") as tell:
        for batch in batches(arrivals.fresh(source.rows())):
            tell(tally.by_queue.total() + arrivals.known + 1, arrivals.total)
            if import_id is not None:
                _post(data, import_id, batch[0].queue, source.said, [source.form(row) for row in batch])
            tally.add(batch)


def _post(
    data: str,
    import_id: str,
    queue: bytes,
    said: Mapping[str, Any],
    messages: list[dict[str, Any]],
    form: Mapping[str, Any] | None = None,
) -> Any:
    request = {"import_id": import_id, "messages": messages, "queue": form, **said}
    return Remote(data, names.show(queue)).post(queue_path(queue, "/import"), request, TIMEOUT_S)


# -- what is said of it


def shape_of(tally: Tally) -> dict[str, Any]:
    return {"messages": tally.by_queue.total(), "bytes": tally.bytes, "known": tally.known}


def print_tally(tally: Tally, place: str, dry_run: bool) -> None:
    click.echo(f"{'would import' if dry_run else 'imported'} {tally.words()}, from {printable(place)}")
    for queue, count in tally.by_queue.items():
        click.echo(f"  {count:,} into {names.show(queue)}")
    if tally.known:
        click.echo(f"Passed over: {counted(tally.known, 'message')} that had been there before.", err=True)
    if tally.interrupted:
        click.echo("Interrupted; what was just under way may be imported too. Run it again for the rest.", err=True)
