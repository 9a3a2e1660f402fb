"""`penstock queue create`, `set`, `pause` and `resume`: what is said of a queue, and whether it hands out."""

from __future__ import annotations

from typing import Any

import click

from penstock.cli.flags import data_option
from penstock.cli.output import JSON, output_option, print_json, with_iso
from penstock.cli.paths import QUEUE, queue_path
from penstock.cli.policies import FLAGS, policy_flags, policy_form
from penstock.cli.program import WithExamples
from penstock.cli.remote import Remote
from penstock.cli.surveying import QUEUE_TIMES
from penstock.codecs import names


@click.command(
    cls=WithExamples,
    examples=[
        "penstock queue create orders",
        "penstock queue create orders --lease 30s --attempts 5 --backoff 1s,5s,30s --dead-letter orders.dead",
    ],
)
@click.argument("queue", type=QUEUE)
@policy_flags
@data_option
@output_option
def create(queue: bytes, data: str, output: str, **policy: Any) -> None:
    """Make a queue and say what holds for its messages.

    What is not said here, the configuration file says for names like this one, else the defaults of `admin`. Other
    dialects make a queue by using it, with their own defaults.
    """
    shape = Remote(data, names.show(queue)).put(queue_path(queue), policy_form(policy))
    _tell("created", shape, output)


@click.command(
    "set",
    cls=WithExamples,
    examples=[
        "penstock queue set orders --lease 2m --max-length 100000",
        "penstock queue set orders --unset ttl --unset backoff",
    ],
)
@click.argument("queue", type=QUEUE)
@policy_flags
@click.option(
    "--unset",
    multiple=True,
    type=click.Choice(list(FLAGS)),
    metavar="FIELD",
    help=f"Say it no longer: the configuration or the default holds again. One of {', '.join(FLAGS)}. May be repeated.",
)
@data_option
@output_option
def change(queue: bytes, unset: tuple[str, ...], data: str, output: str, **policy: Any) -> None:
    """Change what is said of a queue; what is not named stays as it is.

    It holds from now on. Leases and times to live that have begun are not changed.
    """
    form = policy_form(policy)
    both = [flag for flag in unset if FLAGS[flag] in form]
    if both:
        raise click.UsageError(f"--{both[0]} is both set and unset.")
    if not form and not unset:
        raise click.UsageError("Say what to change, such as --lease 30s or --unset ttl.")
    form |= {FLAGS[flag]: None for flag in unset}
    _tell("changed", Remote(data, names.show(queue)).patch(queue_path(queue), form), output)


@click.command(cls=WithExamples, examples=["penstock queue pause orders"])
@click.argument("queue", type=QUEUE)
@data_option
@output_option
def pause(queue: bytes, data: str, output: str) -> None:
    """Stop handing out messages of a queue. Nothing else stops: publishing, leases and delays go on."""
    _tell("paused", Remote(data, names.show(queue)).post(queue_path(queue, "/pause"), {}), output)


@click.command(cls=WithExamples, examples=["penstock queue resume orders"])
@click.argument("queue", type=QUEUE)
@data_option
@output_option
def resume(queue: bytes, data: str, output: str) -> None:
    """Hand out messages of a paused queue again, to those who have been waiting first."""
    _tell("resumed", Remote(data, names.show(queue)).post(queue_path(queue, "/resume"), {}), output)


def _tell(done: str, shape: dict[str, Any], output: str) -> None:
    if output == JSON:
        print_json(with_iso(shape, *QUEUE_TIMES))
    else:
        click.echo(f"{done} {shape['name']}")
