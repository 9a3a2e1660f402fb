"""How commands print: tables by rich, made for a terminal or plain for a pipe, and JSON for programs.

Nothing that came from a client may reach a terminal as it is: names, keys and bodies pass through `printable`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import click

from penstock.model.limits import NEVER_US

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

TABLE: Final = "table"
JSON: Final = "json"
SHORT: Final = 48  # characters of a body or key that a table shows

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PIPE_WIDTH: Final = 100_000  # a pipe has no width: nothing is wrapped or cut
_ESCAPES: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}

F = TypeVar("F", bound=Callable[..., Any])


class Column(NamedTuple):
    title: str
    right: bool = False
    folds: bool = False  # long text goes on in the next line instead of being cut


class Styled(NamedTuple):
    """A cell with a colour, for terminals."""

    text: str
    style: str


Cell = str | Styled


def output_option(command: F) -> F:
    return click.option(
        "--output",
        type=click.Choice([TABLE, JSON]),
        default=TABLE,
        show_default=True,
        help="A table for people, or JSON for programs.",
    )(command)


# -- printing


def print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_json_line(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False))


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> None:
    from rich.table import Table

    console = _console()
    box = _box(console)
    table = Table(box=box, pad_edge=False, padding=(0, 1 if box else 2, 0, 0), header_style="bold", show_edge=False)
    for column in columns:
        table.add_column(
            column.title,
            justify="right" if column.right else "left",
            no_wrap=not column.folds,
            overflow="fold" if column.folds else "ellipsis",
        )
    _print(console, table, rows)


def print_fields(fields: Iterable[tuple[str, Cell]]) -> None:
    """Names to the left, values to the right, without a head."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False, show_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    _print(_console(), table, fields)


def _print(console: Console, table: Table, rows: Iterable[Sequence[Cell]]) -> None:
    from rich.text import Text

    for row in rows:
        table.add_row(*[Text(*cell) if isinstance(cell, Styled) else Text(cell) for cell in row])
    with console.capture() as captured:
        console.print(table)
    lines = captured.get().splitlines()
    for line in lines:
        click.echo(line.rstrip())


def _console() -> Console:
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False)
    return console if console.is_terminal else Console(markup=False, highlight=False, emoji=False, width=_PIPE_WIDTH)


def _box(console: Console) -> Any:
    from rich import box

    return box.SIMPLE_HEAD if console.is_terminal else None


# -- values


def iso(us: int) -> str:
    """ISO 8601 in UTC, to the microsecond."""
    return (_EPOCH + timedelta(microseconds=us)).isoformat(timespec="microseconds").replace("+00:00", "Z")


def time_cell(us: int | None) -> str:
    """A time in a table, to the millisecond; a dash for one that never comes or is not known."""
    return iso(us)[:-4] + "Z" if us and us < NEVER_US else "-"


def with_iso(value: Mapping[str, Any], *times: str) -> dict[str, Any]:
    """The same object with `due` before each `due_us` that is named: null where there is no such time."""
    found: dict[str, Any] = {}
    for name, content in value.items():
        if name in times:
            found[name.removesuffix("_us")] = iso(content) if content and content < NEVER_US else None
        found[name] = content
    return found


def size_cell(count: int) -> str:
    """Bytes for people: 17 B, 4.2 KiB, 64 MiB."""
    if count < 1024:
        return f"{count} B"
    amount = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        amount /= 1024
        if amount < 1024 or unit == "TiB":
            break
    return f"{amount:.1f} {unit}" if amount < 10 and amount % 1 >= 0.05 else f"{amount:.0f} {unit}"


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def printable(text: str) -> str:
    """What nobody can see is written as an escape, so that no text can play with a terminal."""
    if text.isprintable():
        return text
    return "".join([_visible(character) for character in text])


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return _ESCAPES.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}")


def shortened(text: str, limit: int = SHORT) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def bytes_fields(name: str, data: bytes) -> dict[str, str]:
    """As in the admin API: `body` where the bytes are UTF-8, else `body64`."""
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {f"{name}64": base64.b64encode(data).decode()}


def field_cell(shape: Mapping[str, Any], name: str) -> str:
    """What `bytes_fields` made, in a table; a dash where there is neither."""
    if name in shape:
        return printable(shape[name])
    return f"base64:{shape[name + '64']}" if f"{name}64" in shape else "-"
