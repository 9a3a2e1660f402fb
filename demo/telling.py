"""How the story is told: steps, commands as a user would type them, and checks that end it when they fail."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table

console = Console(width=110, soft_wrap=True)
ALL = "all"
PATIENCE_S = 90.0  # for slow machines; nothing here takes ten seconds on others
LOOK_S = 0.05


class Story:
    """Numbered steps; `done` says how long it took."""

    def __init__(self, title: str) -> None:
        self._number = 0
        self._start = time.monotonic()
        console.print(Panel(title, style="bold cyan"))

    def step(self, text: str) -> None:
        self._number += 1
        console.print(f"\n[bold cyan]{self._number}.[/] [bold]{text}[/]")

    def say(self, text: str) -> None:
        console.print(f"   {text}")

    def check(self, what: str, holds: bool) -> None:
        if not holds:
            console.print(f"   [bold red]✗ {what}[/]")
            raise SystemExit(1)
        console.print(f"   [green]✓[/] {what}")

    async def wait(self, what: str, holds: Callable[[], bool]) -> None:
        """A check that may take its time."""
        deadline = time.monotonic() + PATIENCE_S
        while not holds() and time.monotonic() < deadline:
            await asyncio.sleep(LOOK_S)
        self.check(what, holds())

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """The first column is text, the others are numbers. A row of `all` sums up those above it."""
        table = Table(columns[0], box=box.SIMPLE_HEAD, padding=(0, 1))
        for name in columns[1:]:
            table.add_column(name, justify="right", no_wrap=True)
        for row in rows:
            if row[0] == ALL:
                table.add_section()
            table.add_row(*map(str, row))
        console.print(Padding(table, (0, 0, 0, 2), expand=False))

    async def command(self, data: Path, *words: str, quiet: bool = False) -> str:
        """Runs `penstock …` as anybody would, and shows what it prints, unless only its end counts."""
        console.print(f"   [dim]$ penstock {shlex.join(words)}[/]")
        done = await penstock(data, *words)
        shown = "" if quiet and done.returncode == 0 else done.stdout + done.stderr
        for line in shown.rstrip().splitlines():
            console.print(f"   {line}", markup=False, highlight=False)
        if done.returncode != 0:
            self.check(f"exit code {done.returncode}", holds=False)
        return done.stdout

    def done(self) -> None:
        console.print(Panel(f"Told in {time.monotonic() - self._start:.0f} s. Nothing was lost.", style="bold green"))


async def penstock(data: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """On a thread: the actors go on meanwhile."""
    command = [sys.executable, "-m", "penstock.cli.main", *words, "--data", str(data)]
    environment = os.environ | {"COLUMNS": "130"}
    return await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, check=False, env=environment
    )
