"""docs/configuration.md is what the table of options says."""

from __future__ import annotations

from pathlib import Path

from penstock.server.exits import EXIT_CODES
from penstock.server.options import OPTIONS
from penstock.server.policies import POLICY_KEYS
from penstock.server.reference import options_markdown

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_the_page_is_made_from_the_table() -> None:
    assert PAGE.read_text() == options_markdown()


def test_the_page_has_every_option_policy_key_and_exit_code() -> None:
    page = options_markdown()
    for option in OPTIONS.values():
        assert f"### `{option.key}`" in page
        assert option.environment in page
    assert all(f"| `{key}` |" in page for key in POLICY_KEYS)
    assert all(f"| {code} | {about} |" in page for code, about in EXIT_CODES.items())
