"""How the story is told: steps, commands as a user would type them, and checks that end it when they fail."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.panel import Panel

console = Console(width=110, soft_wrap=True)


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

    def command(self, data: Path, *words: str) -> str:
        """Runs `penstock …` as anybody would, and shows what it prints."""
        console.print(f"   [dim]$ penstock {shlex.join(words)}[/]")
        done = penstock(data, *words)
        for line in (done.stdout + done.stderr).rstrip().splitlines():
            console.print(f"   {line}", markup=False, highlight=False)
        if done.returncode != 0:
            self.check(f"exit code {done.returncode}", holds=False)
        return done.stdout

    def done(self) -> None:
        console.print(Panel(f"Told in {time.monotonic() - self._start:.0f} s. Nothing was lost.", style="bold green"))


def penstock(data: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "penstock.cli.main", *words, "--data", str(data)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"COLUMNS": "130"})
