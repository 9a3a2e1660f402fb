"""The steps of `penstock journal repair`: hold the directory, plan, show the price. It works out no price itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import click

from penstock.cli.output import Column, print_table, size_cell
from penstock.cli.program import Damaged, InUse
from penstock.history.rescue import Rescue
from penstock.journal.disk import Disk
from penstock.journal.lock import DirectoryLock, DirectoryLocked
from penstock.journal.repair import Loss, RepairPlan, plan_repair, repair
from penstock.journal.segment import JournalDamaged
from penstock.journal.snapshot import is_founded

_DAMAGE: Final = ("file", "offset", "expected", "reason")
_LOSS: Final = ("file", "offset", "bytes", "first", "last", "facts", "messages")


@contextmanager
def held(data: str) -> Iterator[None]:
    try:
        lock = DirectoryLock(data)
    except DirectoryLocked as locked:
        advice = f"Stop the server first: kill -TERM {locked.pid}" if locked.pid else "Stop the server first."
        raise InUse(f"{locked}; a journal that is in use cannot be repaired.", advice) from None
    try:
        yield
    finally:
        lock.release()


def planned(disk: Disk) -> tuple[RepairPlan, Callable[[], None]]:
    """What it would cost, and what to call to pay it."""
    try:
        if not is_founded(disk):
            rescue = Rescue(disk, os.getpid())
            return rescue.plan, rescue.put_back
        plan = plan_repair(disk)
        return plan, partial(repair, disk, plan)
    except JournalDamaged as later:
        raise Damaged(f"this version cannot repair the journal: {later}") from None


def plan_shape(plan: RepairPlan) -> dict[str, Any]:
    return {
        "damages": [{name: getattr(damage, name) for name in _DAMAGE} for damage in plan.damages],
        "losses": [{name: getattr(loss, name) for name in _LOSS} for loss in plan.losses],
    }


def print_plan(plan: RepairPlan) -> None:
    if not plan.damages:
        click.echo("The journal is sound; there is nothing to repair.")
        return
    click.echo("What is wrong:")
    for damage in plan.damages:
        click.echo(f"  {damage}")
    click.echo("\nWhat would be given up:")
    if any(loss.bytes for loss in plan.losses):
        print_table(_LOSS_COLUMNS, [_loss_row(loss) for loss in plan.losses if loss.bytes])
    else:
        click.echo("  nothing: every fact can be kept")
    click.echo("\nThe damaged files are kept as *.damaged; facts that can be read are written to *.salvaged.jsonl.")


_LOSS_COLUMNS: Final = (
    Column("file"),
    Column("from byte", right=True),
    Column("size", right=True),
    Column("facts"),
    Column("of them readable", right=True),
)


def _loss_row(loss: Loss) -> tuple[str, ...]:
    return loss.file, f"{loss.offset:,}", size_cell(loss.bytes), _range(loss), f"{loss.facts:,}"


def _range(loss: Loss) -> str:
    if loss.messages:
        return f"{loss.messages:,} messages"
    if not loss.first:
        return "not known"
    return f"{loss.first:,} to {loss.last:,}" if loss.last else f"from {loss.first:,} on"
