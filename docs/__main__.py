"""`python -m docs`: writes the pages that are made from tables in the code. Any other page is written by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from penstock.cli.reference import commands_markdown
from penstock.engine.reference import lifecycle_markdown
from penstock.pipeline.reference import tables_markdown
from penstock.server.reference import options_markdown

PAGES: Final[dict[str, Callable[[], str]]] = {
    "commands.md": commands_markdown,
    "configuration.md": options_markdown,
    "lifecycle.md": lifecycle_markdown,
    "tables.md": tables_markdown,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (Path(__file__).parent / name).write_text(page(), encoding="utf-8")
