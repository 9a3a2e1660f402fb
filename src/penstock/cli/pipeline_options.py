"""What the pipeline's commands are told: moments, counters, where everything is. It must not know Spark."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from penstock.cli.program import Failure, InUse

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Moment(click.ParamType[int, str]):
    """A time in ISO 8601; without an offset it is UTC. Inside, microseconds."""

    name = "moment"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"'{value}' is no time; write it like 2026-01-02T00:03:00Z.", param, ctx)
        since = (at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


class ReplayName(click.ParamType[str, str]):
    """It is part of a file's name."""

    name = "name"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if _NAME.fullmatch(value) is None:
            self.fail(f"'{value}' is no name; take up to 100 letters, digits, - and _.", param, ctx)
        return value


class Counters(click.ParamType[list[dict[str, Any]], str]):
    """A file with what a server says of its queues."""

    name = "counters"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> list[dict[str, Any]]:
        with click.open_file(value) as file:
            text = file.read()
        try:
            queues: list[dict[str, Any]] = json.loads(text)["queues"]
        except (ValueError, KeyError, TypeError):
            self.fail(f"{value} is not what `penstock queue list --output json` prints.", param, ctx)
        return queues


COUNTERS: Final = Counters()


class Place(NamedTuple):
    archive: Path
    lake: Path


def place(data: str, archive: Path | None, lake: Path | None) -> Place:
    from penstock.pipeline.archive import ARCHIVE_NAME
    from penstock.pipeline.lake import LAKE_NAME

    return Place((archive or Path(data, ARCHIVE_NAME)).absolute(), (lake or Path(data, LAKE_NAME)).absolute())


def settings(conf: tuple[str, ...], where: Place | None) -> dict[str, str]:
    """Those that fit what is to be read once, if anything is; unless other ones are said."""
    from penstock.pipeline.session import fitting

    pairs = [setting.partition("=") for setting in conf]
    wrong = [key for key, equals, _ in pairs if not equals]
    if wrong:
        raise click.UsageError(f"--conf {wrong[0]} has no value; write it KEY=VALUE.")
    return (fitting(*where) if where else {}) | {key: value for key, _, value in pairs}


@contextmanager
def in_words() -> Iterator[None]:
    """What the pipeline raises, as an error with advice."""
    from penstock.pipeline.archive import BadArchive
    from penstock.pipeline.lake import LakeInUse, NoLake
    from penstock.pipeline.quality import LawsBroken
    from penstock.pipeline.session import NoSpark

    try:
        yield
    except NoSpark as error:
        raise Failure(str(error), error.advice) from None
    except LakeInUse:
        raise InUse("another run has the lake.", "Wait for it to end, or see who has it.") from None
    except NoLake as error:
        advice = "Another --lake, or an empty directory, is filled anew from the archive."
        raise Failure(f"the lake cannot be used: {error}.", advice) from None
    except BadArchive as error:
        raise Failure(str(error)) from None
    except LawsBroken as error:
        laws = "\n".join(f"  {law}" for law in error.broken)
        raise Failure(f"the tables stay as they were, for a law is broken.\n{laws}") from None
