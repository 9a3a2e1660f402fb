"""docs/configuration.md, made from the table of options. A test compares the page with what this gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from penstock.server.exits import EXIT_CODES
from penstock.server.options import OPTIONS, Option
from penstock.server.policies import POLICY_KEYS

_HEAD: Final = """\
# Configuration

This page is made from the table of options in `src/penstock/server/options.py`; change it there, then `make docs`.

Every option can be said by a flag of `penstock serve`, by an environment variable and in a TOML file, which
`--config` or `PENSTOCK_CONFIG` names. A flag wins over the environment, the environment over the file, the file over
the default, option by option. `penstock config show` tells the effective values and where each came from;
`penstock config check` tells everything that is wrong, each with its place.

On SIGHUP the server reads all of it again. What takes effect then is marked *reloads*, policies too; of any other
change the log says that it needs a restart. A wrong file changes nothing.
"""

_EXAMPLE: Final = """\
## An example

```toml
data = "penstock-data"
confirm = "sync"

[listen]
deferred = "127.0.0.1:12000"

[dialect.deferred]
queue = "default"
idle_timeout_s = 60

[[policy]]
match = "orders*"
lease_s = 30
attempts = 5
backoff_s = [1, 5, 30]
dead_letter = "orders.dead"
```
"""

_POLICIES: Final = """\
## Policies

A `[[policy]]` in the file holds for the queues whose name it matches, whatever their dialect: `match` is a name, or a
prefix with a trailing `*`. Names that are not UTF-8 are written with `%XX`, as everywhere. Field by field, what was
said of a queue itself wins over an exact match, an exact match over a longer prefix, that over a shorter one, and all
of them over the defaults of the dialect that made the queue.
"""


def options_markdown() -> str:
    return "\n".join([_HEAD, *_options(), _EXAMPLE, _POLICIES, *_policies(), *_exits()])


def _options() -> Iterator[str]:
    yield "## Options\n"
    for option in OPTIONS.values():
        yield _entry(option)


def _entry(option: Option[Any]) -> str:
    about = option.about + (" *Reloads.*" if option.reloads else "")
    return (
        f"### `{option.key}`\n\n{about}\n\n"
        "| type | default | flag | environment |\n|---|---|---|---|\n"
        f"| {option.kind.words} | `{option.kind.show(option.default)}` | `{option.flag}` | `{option.environment}` |\n"
    )


def _policies() -> Iterator[str]:
    yield "| key | type | what it is |\n|---|---|---|"
    for key, (_, kind, about) in POLICY_KEYS.items():
        yield f"| `{key}` | {kind.words} | {about} |"
    yield ""


def _exits() -> Iterator[str]:
    yield "## Exit codes\n\n| code | what it means |\n|---:|---|"
    for code, about in EXIT_CODES.items():
        yield f"| {code} | {about} |"
    yield ""
