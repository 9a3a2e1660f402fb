"""The documents are true where a machine can see it: links lead somewhere, commands exist, no machine is named."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from docs.__main__ import PAGES
from penstock.cli.main import main
from tests.test_layers import ROOMS

ROOT = Path(__file__).parents[1]
TREES = (".ci", "docs", "src", "tests", "harness", "bench", "torture", "demo", "examples")
TEXTS = ("", ".md", ".py", ".toml", ".lock", ".txt")
MADE = {"__pycache__", "data"}

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\$ )?((?:make|penstock) .*?)(?:\s+#.*)?$", re.MULTILINE)
INLINE_COMMAND = re.compile(r"`((?:make|penstock) [a-z][^`]*)`")
MACHINE_PATH = re.compile(r"(?:^|[^a-z0-9_.])/(?:work|root|home)/", re.MULTILINE)
ADDRESS = re.compile(r"://|index-url|find-links|^-|@ |/", re.MULTILINE)


def texts() -> list[Path]:
    found = [path for tree in TREES for path in (ROOT / tree).rglob("*") if not MADE & set(path.parts)]
    return [path for path in (*ROOT.iterdir(), *found) if path.is_file() and path.suffix in TEXTS]


def pages() -> list[Path]:
    return [path for path in texts() if path.suffix == ".md"]


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page: Path, text: str) -> list[str]:
    return [link for link in LINK.findall(text) if "://" not in link and not leads_somewhere(page, link)]


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


def commands(text: str) -> Iterator[str]:
    for block in FENCE.findall(text):
        yield from COMMAND.findall(block.replace("\\\n", " "))
    yield from INLINE_COMMAND.findall(text)


def targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def unknown(command: str) -> str:
    """What in a command does not exist; empty when all of it does."""
    program, *words = shlex.split(re.split(r" [|>&]| \$\(", command)[0])
    if program == "make":
        return next((word for word in words if "=" not in word and word not in targets()), "")
    return unknown_to(main, words)


def unknown_to(found: click.Command, words: list[str]) -> str:
    while words and isinstance(found, click.Group) and not words[0].startswith("-"):
        inner = found.commands.get(words[0])
        if inner is None:
            return words[0]
        found, words = inner, words[1:]
    options = {option for parameter in found.params for option in parameter.opts} | {"--help"}
    said = (word.partition("=")[0] for word in words if word.startswith("-"))
    return next((option for option in said if option not in options), "")


def test_there_is_something_to_read() -> None:
    expected = {"README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "glossary.md"}
    assert expected <= {page.name for page in pages()}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_made_from_a_table_is_up_to_date(name: str) -> None:
    assert (ROOT / "docs" / name).read_text() == PAGES[name](), "make docs writes it anew"


def test_every_relative_link_leads_somewhere() -> None:
    broken = {page.relative_to(ROOT).as_posix(): broken_links(page, page.read_text()) for page in pages()}
    assert {page: links for page, links in broken.items() if links} == {}


def test_every_command_in_the_documents_exists() -> None:
    said = [(page.name, command) for page in pages() for command in commands(page.read_text())]
    assert len(said) > 10
    assert [(page, command, unknown(command)) for page, command in said if unknown(command)] == []


@pytest.mark.parametrize("command", ["make coffee", "penstock brew", "penstock queue brew", "penstock serve --sugar 2"])
def test_a_command_that_does_not_exist_is_found(command: str) -> None:
    assert unknown(command) in command.split()


def test_a_broken_link_is_found() -> None:
    text = "[a](nowhere.md) [b](README.md#nothing-of-that-name) [c](README.md)"
    assert broken_links(ROOT / "README.md", text) == ["nowhere.md", "README.md#nothing-of-that-name"]


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    assert [path for path in texts() if MACHINE_PATH.search(path.read_text())] == []


def test_the_lock_has_a_hash_for_everything_and_no_address() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    pinned = re.split(r"^(?=\S)", lock, flags=re.MULTILINE)[1:]
    assert len(pinned) > 10
    assert [entry for entry in pinned if "==" not in entry or "--hash=sha256:" not in entry] == []
    assert ADDRESS.findall(lock) == []


def test_architecture_shows_the_rooms_that_the_layers_test_guards() -> None:
    rows = re.findall(r"^\| `(\w+)/` \|.*\| ([^|]*) \|$", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
    shown = {room: set(re.findall(r"`(\w+)`", below)) for room, below in rows}
    assert shown == {room: below for room, below in ROOMS.items() if not room.endswith(".py")}


def test_decisions_are_numbered_without_a_gap_and_listed() -> None:
    folder = ROOT / "docs" / "adr"
    names = sorted(path.name for path in folder.glob("[0-9]*.md"))
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))
    assert re.findall(r"\((\d{4}-[a-z-]+\.md)\)", (folder / "README.md").read_text()) == names
