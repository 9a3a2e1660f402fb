"""`penstock archive`: looks at the archive's files, be a server running or not."""

from __future__ import annotations

from typing import Any

import click

from penstock.cli.flags import data_option
from penstock.cli.output import JSON, output_option, print_fields, print_json, printable, size_cell, time_cell, with_iso
from penstock.cli.program import Damaged, Program
from penstock.server import exits


@click.group(cls=Program, examples=["penstock archive status"])
def archive() -> None:
    """Look at the archive: what happened, as Parquet files.

    A server writes it beside its journal, into `archive` in the data directory; docs/archive-format.md tells every
    column.
    """


@archive.command(examples=["penstock archive status", "penstock archive status --output json"])
@data_option
@output_option
def status(data: str, output: str) -> int:
    """Tell how far the archive reaches, and how far it is behind the journal.

    What is not sealed yet cannot be archived: a server seals what is older than `archive.seal_s`. Exits 4 if the
    newest file of the archive cannot be read.
    """
    found = _found(data)
    if output == JSON:
        print_json(with_iso(found, "last_at_us"))
    else:
        _print(found)
    return exits.DAMAGED if found["unreadable"] else exits.CLEAN


def _found(data: str) -> dict[str, Any]:
    from penstock.cli.directory import journal_path
    from penstock.history.saying import OtherVersion
    from penstock.history.survey import survey

    journal_path(data)
    try:
        seen = survey(data)
    except OtherVersion as error:
        raise Damaged(f"the archive in {data} cannot be gone on with: {error}.") from None
    shown = ("days", "files", "bytes", "segment", "last_fact", "last_at_us")
    return {name: getattr(seen, name) for name in shown} | {
        "behind_segments": max(0, seen.sealed_segment - seen.segment),
        "behind_facts": max(0, seen.journal_fact - seen.last_fact),
        "unreadable": list(seen.unreadable),
    }


def _print(found: dict[str, Any]) -> None:
    print_fields(
        [
            ("files", f"{found['files']:,} in {found['days']:,} days, {size_cell(found['bytes'])}"),
            ("last segment", f"{found['segment']:,}" if found["files"] else "-"),
            ("last fact", f"{found['last_fact']:,}" if found["files"] else "-"),
            ("of", time_cell(found["last_at_us"])),
            ("behind", f"{found['behind_segments']:,} sealed segments, {found['behind_facts']:,} facts"),
            *[("unreadable", printable(file)) for file in found["unreadable"]],
        ]
    )
