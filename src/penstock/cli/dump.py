"""Reading the facts of a journal for `penstock journal dump`: which of them, as JSON or as lines of one width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from penstock.cli.directory import ids_of, journal_disk, known_ids
from penstock.cli.facts import FactShapes, details
from penstock.cli.output import printable, shortened, time_cell
from penstock.cli.program import Damaged, Failure
from penstock.codecs.facts import Fact
from penstock.journal import check
from penstock.journal.disk import Disk
from penstock.journal.segment import JournalDamaged
from penstock.model import facts

HEAD: Final = "      fact  time                      kind       queue             message     by        details"
_QUEUE_WIDTH: Final = 16


def shapes(data: str, first: int, message: str | None, limit: int | None) -> Iterator[dict[str, Any]]:
    """Raises Failure where damage is reached; what stood before it has been given by then."""
    ids = ids_of(data)
    wanted = None if message is None else _number(data, message)
    disk = journal_disk(data)
    known = FactShapes(ids, check.queue_names(disk))
    return _until_damage(islice(_chosen(disk, known, first, wanted), limit))


def _until_damage(found: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    try:
        yield from found
    except JournalDamaged as damaged:
        raise Damaged(f"the journal is damaged: {damaged}", "`penstock journal verify` lists every problem.") from None


def _number(data: str, message: str) -> int:
    number = known_ids(data).seq(message.encode("utf-8", "replace"))
    if number < 0:
        raise Failure(f"'{printable(message)}' is not the id of a message of this store.")
    return number


def _chosen(disk: Disk, known: FactShapes, first: int, wanted: int | None) -> Iterator[dict[str, Any]]:
    for fact in check.read(disk):
        known.learn(fact)
        if fact.seq >= first and (wanted is None or _is_of(fact, wanted)):
            yield known.shape(fact)


def _is_of(fact: Fact, message: int) -> bool:
    return fact.message == message and fact.kind not in (facts.STARTED, facts.WOKEN)


def line(shape: Mapping[str, Any]) -> str:
    reason = shape.get("reason")
    told = ", ".join(filter(None, (reason, details(shape))))
    queue = shortened(printable(shape.get("queue", "-")), _QUEUE_WIDTH)
    message = shape.get("message") or str(shape.get("message_number", "-"))
    return (
        f"{shape['fact']:>10}  {time_cell(shape['at_us'])}  {shape['kind']:<9}  {queue:<{_QUEUE_WIDTH}}  "
        f"{message:<10}  {shape['dialect']:<8}  {told}"
    ).rstrip()
