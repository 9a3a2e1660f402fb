"""`penstock pipeline replay`: a slice of history back into a queue, each message once however often it is repeated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click

from penstock.cli.confirming import insist
from penstock.cli.output import JSON, print_json, printable, with_iso
from penstock.cli.pipeline_options import in_words, place, settings
from penstock.cli.pipeline_replay_words import bodiless_shape, print_preview, print_sent, row_shape, so_far
from penstock.cli.pipeline_run import steps
from penstock.cli.program import FAILED, BadUsage, Failure
from penstock.cli.progress import progress
from penstock.cli.rates import Pace
from penstock.cli.remote import Remote
from penstock.client.errors import Full, NoQueue, PenstockError
from penstock.pipeline.lake import Lake
from penstock.pipeline.plan import Chosen, Plan, Row, Said, digest
from penstock.pipeline.sending import RefusedRow, Sender, Sent
from penstock.pipeline.session import default_master, session
from penstock.server import exits
from penstock.sync import Client

SAMPLE: Final = 5
LISTENER: Final = "glovebox"


class Replay:
    """One replay, as it was asked for. `rows` are the first few that it is about."""

    def __init__(self, lake: Lake, where: str, to: str, name: str | None) -> None:
        self.lake = lake
        self.where = where
        self.to = to
        self.name = name or digest(where, to)
        self.plan = Plan(lake, self.name)
        self.said: Said | None = None
        self.chosen = Chosen(0, 0, [])
        self.rows: Sequence[Row] = ()

    def take_up(self) -> None:
        """If it is planned: those messages it is, whatever the tables hold by now."""
        said = self.said = self.plan.said()
        if said is None:
            return
        if (said.where, said.to) != (self.where, self.to):
            raise BadUsage(
                f"the replay {self.name} is another one: --where {said.where!r} --to {said.to}.",
                "Another --id makes a replay of its own.",
            )
        self.chosen = said.chosen
        self.rows = self.plan.first(SAMPLE)


def replay(
    where: str,
    to: bytes,
    name: str | None,
    rate: float | None,
    dry_run: bool,
    yes: bool,
    url: str | None,
    token: str | None,
    data: str,
    archive: Path | None,
    lake: Path | None,
    master: str | None,
    memory: str,
    conf: tuple[str, ...],
    output: str,
) -> int:
    at = place(data, archive, lake)
    with in_words():
        one = Replay(Lake(at.lake), where, _queue(to), name)
        one.take_up()
        if one.said is None:
            options = (master or default_master(), memory, settings(conf, at))
            _plan(one, at.archive, options, dry_run, yes, output)
        else:
            _preview(one, dry_run, yes, output)
    sent = Sent()
    if not dry_run and one.said is not None:
        _send(one, one.said, url or _address(data), token, rate, sent)
    _tell(one, sent, dry_run, output)
    return FAILED if one.chosen.lacking() else exits.CLEAN


def _queue(to: bytes) -> str:
    try:
        return to.decode()
    except UnicodeDecodeError:
        raise BadUsage("--to: a replay goes through glovebox, where names are UTF-8, and this one is not.") from None


# -- what it is about


def _plan(
    one: Replay, archive: Path, options: tuple[str, str, dict[str, str]], dry_run: bool, yes: bool, output: str
) -> None:
    """Ask the tables; if it is agreed to, keep what they say."""
    if not one.lake.manifest().batch:
        raise Failure(f"there are no tables in {one.lake.root} yet.", "`penstock pipeline run` makes them.")
    with session(*options) as spark:
        from penstock.pipeline.jobs.replay import BadCondition, Choice

        choice = Choice(spark, archive, one.lake, one.where)
        with steps() as tell:
            tell("looking for messages", 1, 2)
            try:
                choice.open()
            except BadCondition as error:
                raise BadUsage(f"--where is wrong: {printable(str(error))}") from None
            one.chosen = choice.count()
            one.rows = choice.first(SAMPLE)
        _preview(one, dry_run, yes, output)
        if one.chosen.messages and not dry_run:
            with steps() as tell:
                tell("keeping them for the replay", 2, 2)
                choice.keep(one.plan, one.name, one.to, one.chosen)
            one.take_up()


def _preview(one: Replay, dry_run: bool, yes: bool, output: str) -> None:
    """Count, bytes and a sample, before anything is done; then the question."""
    if output != JSON:
        print_preview(one.name, one.to, one.chosen, one.rows)
    if one.chosen.messages and not dry_run:
        insist(f"Publish them to {printable(one.to)}?", yes, output)


# -- sending


def _address(data: str) -> str:
    """Where the server on this directory speaks glovebox."""
    found = [one["address"] for one in Remote(data).get("/status")["listeners"] if one["name"] == LISTENER]
    if not found:
        raise Failure("the server does not listen for glovebox, which a replay goes through.", "Say --url.")
    return f"ws://{found[0]}"


def _send(one: Replay, said: Said, url: str, token: str | None, rate: float | None, sent: Sent) -> None:
    pace = Pace(rate)
    with _troubles(one, sent), Client(url, token=token) as client, progress("publishing") as tell:
        for _ in Sender(client, one.to, said.mark(), sent).send(one.plan.rows(), pace.chunk, pace.wait):
            tell(sent.done() + 1, one.chosen.messages)


@contextmanager
def _troubles(one: Replay, sent: Sent) -> Iterator[None]:
    """Whatever stops it, nothing is lost: say how far it came."""
    try:
        yield
    except NoQueue:
        raise Failure(f"there is no queue {printable(one.to)}.", f"penstock queue create {one.to}") from None
    except Full:
        raise Failure(f"{printable(one.to)} is full.", so_far(one.chosen, sent)) from None
    except RefusedRow as refusal:
        words = f"message {refusal.row.message_seq} is refused by {printable(one.to)}: {printable(str(refusal))}."
        raise Failure(words, so_far(one.chosen, sent)) from None
    except PenstockError as error:
        raise Failure(f"the server cannot be reached: {printable(str(error))}.", so_far(one.chosen, sent)) from None
    except KeyboardInterrupt:
        click.echo(so_far(one.chosen, sent), err=True)
        raise


# -- the end


def _tell(one: Replay, sent: Sent, dry_run: bool, output: str) -> None:
    if output == JSON:
        print_json(_shape(one, sent, dry_run))
    elif not one.chosen.messages:
        click.echo("No message to replay.")
    elif dry_run:
        click.echo("Nothing was published.")
    else:
        print_sent(sent)


def _shape(one: Replay, sent: Sent, dry_run: bool) -> dict[str, Any]:
    return {
        "replay": one.name,
        "where": one.where,
        "to": one.to,
        "dry_run": dry_run,
        **with_iso({"planned_us": None if one.said is None else one.said.planned_us}, "planned_us"),
        "messages": one.chosen.messages,
        "bytes": one.chosen.bytes,
        "published": sent.published,
        "before": sent.before,
        "without_body": [bodiless_shape(found) for found in one.chosen.bodiless],
        "sample": [row_shape(row) for row in one.rows],
    }
