"""`penstock dead redrive` and `purge`: dead letters back to work, or away for ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from penstock.cli.confirming import insist, yes_option
from penstock.cli.flags import data_option
from penstock.cli.letters import print_letters, with_times
from penstock.cli.output import JSON, output_option, print_json
from penstock.cli.paths import QUEUE, queue_path
from penstock.cli.program import WithExamples
from penstock.cli.rates import Pace, Rate
from penstock.cli.remote import Remote
from penstock.cli.sieving import Letter, Letters, sieve_options
from penstock.cli.sweeping import Tally, surveyed, swept
from penstock.codecs import names

F = TypeVar("F", bound=Callable[..., Any])

_UNKNOWN: Final = "a queue that is not known; say --to"

_limit_option = click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")


def _dry_run_option(command: F) -> F:
    return click.option("--dry-run", is_flag=True, help="Change nothing; say how many there are, and show a few.")(
        command
    )


@click.command(
    cls=WithExamples,
    examples=[
        "penstock dead redrive orders.dead",
        "penstock dead redrive orders.dead --contains timeout --rate 500/s --dry-run",
        "penstock dead redrive orders.dead --from orders --older-than 1h --to orders.again --limit 1000",
    ],
)
@click.argument("queue", type=QUEUE)
@click.option("--to", type=QUEUE, help="Into this queue, and not each into the one it was dropped from.")
@click.option("--rate", type=Rate(), help="No faster than this, such as 500/s or 30/m.")
@sieve_options
@_limit_option
@_dry_run_option
@data_option
@output_option
def redrive(
    queue: bytes,
    to: bytes | None,
    rate: float | None,
    limit: int | None,
    dry_run: bool,
    data: str,
    output: str,
    **sieve: Any,
) -> int:
    """Publish the dead letters of a queue anew, each into the queue it was dropped from.

    Body, key, priority and lease length stay; delay and time to live are those of the queue, failures begin at 0. Each
    is published and leaves the dead letters in one commit, so it may be stopped at any time and begun again: nothing
    is lost or doubled. It stops by itself where a queue is full. A letter that somebody holds is left alone, and one
    that dies again meanwhile is not redriven again. Exits 1 if some could not be redriven.
    """
    if to == queue:
        raise click.UsageError("--to names the queue that the dead letters are in.")
    letters = Letters(data, queue, sieve, limit)
    target = None if to is None else _there(data, to)

    def goes_to(letter: Letter) -> str | None:
        return letter.dead_from if target is None else target

    if dry_run:
        tally = surveyed(letters, goes_to)
    else:
        tally = swept(letters, "redrive", {"to": target}, Pace(rate), goes_to)
    if output == JSON:
        targets = [{"queue": name, "messages": count} for name, count in tally.targets.items()]
        print_json({"dry_run": dry_run, **_shape(tally), "targets": targets})
    else:
        _print(tally, letters, "redrive", "redriven", dry_run, _targets(tally))
    return tally.exit_code()


def _there(data: str, queue: bytes) -> str:
    """A queue that is not there is told of before anything is done."""
    shape = Remote(data, names.show(queue)).get(queue_path(queue))
    return str(shape["name"])


def _targets(tally: Tally) -> str:
    """: 140 to orders, 2 to invoices."""
    each = [f"{count:,} to {_UNKNOWN if name is None else name}" for name, count in tally.targets.items()]
    return ": " + ", ".join(each)


@click.command(
    cls=WithExamples,
    examples=[
        "penstock dead purge orders.dead --older-than 30d",
        "penstock dead purge orders.dead --from orders --yes",
    ],
)
@click.argument("queue", type=QUEUE)
@sieve_options
@_limit_option
@_dry_run_option
@yes_option
@data_option
@output_option
def purge(queue: bytes, limit: int | None, dry_run: bool, yes: bool, data: str, output: str, **sieve: Any) -> int:
    """Delete dead letters for ever.

    It asks first, with their number; as JSON it never asks and needs --yes. Messages of the queue that are no dead
    letters stay, and so do dead letters that somebody holds.
    """
    letters = Letters(data, queue, sieve, limit)
    if dry_run:
        tally = surveyed(letters, _nowhere)
    else:
        if not yes:
            _ask_about(surveyed(letters, _nowhere), letters.name, output)
        tally = swept(letters, "purge", {}, Pace(None), _nowhere)
    if output == JSON:
        print_json({"dry_run": dry_run, **_shape(tally)})
    else:
        _print(tally, letters, "purge", "purged", dry_run)
    return tally.exit_code()


def _ask_about(tally: Tally, name: str, output: str) -> None:
    if tally.messages:
        insist(f"Delete {tally.words()}, of the dead letters in {name} for ever?", yes=False, output=output)


def _nowhere(letter: Letter) -> None:
    return None


def _shape(tally: Tally) -> dict[str, Any]:
    refused = [{"error": code, "message": words, "messages": count} for (code, words), count in tally.refused.items()]
    sample = [with_times(shape) for shape in tally.sample]
    return {"messages": tally.messages, "bytes": tally.bytes, "gone": tally.gone, "refused": refused, "sample": sample}


def _print(tally: Tally, letters: Letters, verb: str, done: str, dry_run: bool, targets: str = "") -> None:
    if not tally.seen() and not tally.interrupted:
        letters.say_none()
        return
    words = tally.words() + (targets if tally.messages else "")
    click.echo(f"would {verb} {words}" if dry_run else f"{done} {words}")
    if tally.sample:
        print_letters(tally.sample)
    for line in _troubles(tally, done):
        click.echo(line, err=True)


def _troubles(tally: Tally, done: str) -> list[str]:
    lines = [f"{count:,} not {done}: {words}" for (_, words), count in tally.refused.items()]
    if tally.gone:
        lines.append(f"{tally.gone:,} not {done}: gone, or in somebody's hands by then")
    if tally.full():
        lines.append("Stopped there; the others are still dead letters.")
    if tally.interrupted:
        lines.append(f"Interrupted; what was just under way may be {done} too. Begin again for the rest.")
    return lines
