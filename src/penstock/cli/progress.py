"""A bar for what may take a while: on stderr, only on a terminal, only where there is much to do, gone at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

WORTH_A_BAR: Final = 4  # parts of work

Tell = Callable[[int, int], None]


@contextmanager
def progress(title: str) -> Iterator[Tell]:
    """Gives a function that is told how many parts have begun, of how many."""
    if not sys.stderr.isatty():
        yield lambda begun, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        work = bar.add_task(title, total=None, visible=False)
        yield lambda begun, total: bar.update(work, completed=begun - 1, total=total, visible=total >= WORTH_A_BAR)
