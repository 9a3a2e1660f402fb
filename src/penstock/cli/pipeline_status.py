"""`penstock pipeline status`: what is archived, what is in the tables, how far behind. It must not need Spark."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.cli import durations
from penstock.cli.output import JSON, Cell, Styled, print_fields, print_json, time_cell, with_iso
from penstock.cli.pipeline_options import in_words, place
from penstock.pipeline.archive import names, unseen
from penstock.pipeline.lake import Lake, Manifest


def status(data: str, archive: Path | None, lake: Path | None, output: str) -> None:
    where = place(data, archive, lake)
    with in_words():
        found = shape(where.archive, Lake(where.lake))
    if output == JSON:
        print_json(with_iso(found, "last_at_us"))
    else:
        print_fields(_fields(found))


def shape(archive: Path, lake: Lake) -> dict[str, Any]:
    manifest = lake.manifest()
    fresh = unseen(archive, manifest, lambda number, total: None)
    last = manifest.runs[-1] if manifest.runs else None
    return {
        "archive": str(archive),
        "archived_segments": len(names(archive)),
        "lake": str(lake.root),
        "batch": manifest.batch,
        "last_fact": manifest.last_fact(),
        "last_at_us": manifest.now_us or None,
        "facts": sum(high - low + 1 for low, high in manifest.taken),
        "quarantined": manifest.quarantined,
        "missing": [{"first": first, "last": last} for first, last in manifest.missing()],
        "behind_segments": len(fresh),
        "behind_facts": sum(segment.facts for segment in fresh),
        "parts": _parts(manifest),
        "last_run": None if last is None else {"batch": last.batch, "seconds": last.seconds, "facts": last.facts},
    }


def _parts(manifest: Manifest) -> list[dict[str, Any]]:
    return [{"table": table, "parts": len(parts)} for table, parts in sorted(manifest.parts.items())]


def _fields(found: dict[str, Any]) -> Iterator[tuple[str, Cell]]:
    yield "archive", f"{found['archive']}, {found['archived_segments']:,} segments"
    yield "lake", found["lake"]
    if not found["batch"]:
        yield "tables", Styled("none yet: penstock pipeline run makes them", "yellow")
    else:
        yield "tables", f"{found['facts']:,} facts in {found['batch']:,} batches"
        age_us = time.time_ns() // 1_000 - found["last_at_us"]
        yield "last fact", f"{found['last_fact']:,}, {time_cell(found['last_at_us'])} ({durations.show(age_us)} ago)"
    behind = f"{found['behind_facts']:,} facts in {found['behind_segments']:,} segments"
    yield "behind", Styled(behind, "yellow") if found["behind_segments"] else "nothing"
    if found["quarantined"]:
        yield "in quarantine", Styled(f"{found['quarantined']:,} facts", "red")
    for gap in found["missing"]:
        yield "missing", Styled(f"facts {gap['first']:,} to {gap['last']:,}", "red")
