"""`python -m torture power`: the cuts under load, the control that must fail, and the table beside the peers."""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from bench import tables
from torture.crowd.history import LOST
from torture.power import comparison, cuts, loopdisk
from torture.power.peers import CONTROL, PEERS

CUTS = 200
PEER_CUTS = 40
CONTROL_CUTS = 3
MAKER = "make torture"


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cuts", type=int, default=CUTS, help="power cuts under mixed load (default %(default)s)")
    parser.add_argument("--confirm", choices=["write", "sync"], default="sync")
    parser.add_argument("--peers", type=int, help=f"power cuts on each server of the table ({PEER_CUTS} for a page)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table into the page too")


def run(asked: argparse.Namespace) -> tuple[str, ...]:
    if why := loopdisk.possible():
        return (f"no power was cut: {why}",)
    broken = under_load(asked.cuts, asked.seed, asked.confirm) if asked.cuts else ()
    broken += control(asked.seed) if asked.cuts and not broken else ()
    if asked.peers or asked.markdown:
        broken += beside_peers(asked.peers or PEER_CUTS, asked.seed, asked.markdown)
    return broken


def under_load(count: int, seed: int, confirm: str) -> tuple[str, ...]:
    print(f"{count} power cuts under mixed load, confirm {confirm}, seed {seed}", flush=True)
    return cuts.campaign(count, seed, confirm, progress=tell(time.monotonic())).broken


def control(seed: int) -> tuple[str, ...]:
    """The same where every sync is eaten: whoever sees no loss there would see none here."""
    print("the same with every fsync eaten, which must fail", flush=True)
    outcome = cuts.campaign(CONTROL_CUTS, seed, eats=True, progress=tell(time.monotonic()))
    seen = any(line.startswith(LOST) for line in outcome.broken)
    return () if seen else ("the control saw no loss, though every fsync was eaten",)


def tell(start_s: float) -> Callable[[cuts.Outcome], None]:
    def progress(outcome: cuts.Outcome) -> None:
        print(
            f"  {outcome.cuts:6} cuts  {outcome.told:9,} published  {outcome.finished:9,} finished  "
            f"{outcome.lost:6,} lost  {outcome.returned:6,} came back  {outcome.late:3} late answers  "
            f"{outcome.snapshots:4} snapshots  {outcome.slowest_end_s:4.1f} s to the slowest end  "
            f"{len(outcome.broken)} broken  {time.monotonic() - start_s:6.0f} s",
            flush=True,
        )

    return progress


def beside_peers(count: int, seed: int, page: Path | None) -> tuple[str, ...]:
    """The page has what was measured so far, after every round. Stops at the first that breaks a law."""
    peers = [peer for peer in (*PEERS, CONTROL) if not peer.command or shutil.which(peer.command)]
    about = comparison.about(peers)
    print(about, flush=True)
    for counts in comparison.compare(peers, count, seed):
        table = comparison.table(counts)
        print(f"\n{table.plain()}", flush=True)
        if page is not None:
            tables.write(page, table.name, f"{about}\n\n{table.markdown()}", MAKER)
        if broken := comparison.laws(counts):
            return broken
    return ()
