"""docs/lifecycle.md, made from the lifecycle table. A test compares the page with what this gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from penstock.engine.lifecycle import LIVE, TURNS, WAITING
from penstock.model.facts import FACT_NAMES, REASON_NAMES
from penstock.model.limits import GRACE_US, MARKS_MAX, SECOND_US, START_JUMP
from penstock.model.message import PLACE_NAMES
from penstock.model.stages import STAGES

_HEAD: Final = """\
# The life of a message

This page is made from the table in `src/penstock/engine/lifecycle.py`; change it there, then `make docs`.

A live message is *delayed*, *ready*, *parked* or *leased*. The first three, *waiting*, are one stored state: which of
them it is follows from time and is never logged, so the journal may lease what it last saw delayed. A message ends
*finished*, *dropped*, *expired* or *deleted*, for ever. At every moment, in every queue,

    published = delayed + ready + parked + leased + finished + dropped + expired + deleted

Each row is something that can happen, the places it may find a message in, and the fact that says so in the journal.
A replay refuses a fact that this table does not allow. The last column is what the poster is told of, if it asked.

| event | where it was | what follows | fact | stages told |
|---|---|---|---|---|
"""

_GRACE_S: Final = int(GRACE_US // SECOND_US)
_JUMP_BITS: Final = int(START_JUMP).bit_length() - 1

_RULES: Final = f"""
A message that somebody waits for is handed over as it is published: both facts stand in one commit. Taken at once, it
was never stored, and a poster who asked for `ready` or `finish` is told `finish`, once, and nothing else.

A publish may name a list, its *mark*, and say which row of it it is. The mark has come as far as the highest row that
was published under its name; a row up to that is not published again, whatever has become of its message and whichever
queue it is for. The fact that publishes the row moves the mark, so that a crash leaves both or neither. A mark never
goes back; {MARKS_MAX:,} are kept, and beyond that the one that was moved longest ago is forgotten.

## Order

Rank is priority (higher first), then when a message became ready, then its number. *Oldest* is the first in rank;
*newest* is the last within the best priority. A message that comes back goes to the tail, for it becomes ready anew;
only one whose lease ran out goes to its old place, if its taker chose so and no back-off stands between. A parked
message has no rank: it is never chosen, but taken along with its key, after the chosen one, newest first.

## Two counters

`deliveries` counts hand-outs and is what clients are shown. `failures` counts leases that ran out and releases that
say so, and is what the limit of attempts counts: with `attempts` n, the n-th failure drops the message. A plain
release burns nothing. After a failure a message waits for the delay that its release named, else for the policy's
back-off, whose last step repeats.

## Ends

Expiry beats the drop, and the drop beats another try. Time to live counts from the publish. A lease is never cut
short: what expires while leased ends when its lease does, as expired. A dead letter is a new message, published in
the commit that drops the old one, linked to it and to its queue: the same body, key, priority and lease length,
without ttl and without notices. The limits of the dead-letter queue do not hold for it. A redrive publishes it anew
and deletes it in one commit; the new message is linked to nothing, and its queue's policy says how long it waits and
lives. A finish, release or extend that comes too late, or for the lease of somebody else where the dialect fences,
finds no message and changes nothing.

## At the same instant

Expiry, then leases that are over, then delays that are over, then waits that are over, then requests; within each by
number. Where time has jumped, what has expired by now is not handed out any more; all else happens in the order of
its due times. Whatever becomes ready goes to the oldest who waits for it, and if it is still there then, everybody
asleep is woken, once for each sleep. A client that is gone leaves nothing behind but its leases.

## Time

Engine time is max(wall clock at start, time of the last fact) plus what has elapsed since; steps of the wall clock
are ignored while the server runs. Each start writes the fact `started` and jumps 2^{_JUMP_BITS} message numbers
ahead, so that a number lost in a crash never comes back as another message.

Downtime fails nobody: at a `started`, and at a `woken` (the process had stood still for more than a second), every
lease with an end lasts at least {_GRACE_S} seconds more, or as long as it is from its beginning to its end if that is
shorter. After that grace it ends like any other.
"""

# where a message was -> in one word
_GROUPS: Final = {(): "–", LIVE: "live", WAITING: "waiting"}


def lifecycle_markdown() -> str:
    return _HEAD + "".join(_rows()) + _RULES


def _rows() -> Iterator[str]:
    for turn in TURNS:
        before = _GROUPS.get(turn.before) or ", ".join(PLACE_NAMES[place] for place in turn.before)
        reason = f" ({REASON_NAMES[turn.reason]})" if turn.reason else ""
        told = ", ".join(f"`{STAGES[stage]}`" for stage in turn.told) or "–"
        yield f"| {turn.event} | {before} | {turn.after} | {FACT_NAMES[turn.fact]}{reason} | {told} |\n"
