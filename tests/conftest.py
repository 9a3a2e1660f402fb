"""What every test shares: helpers whose asserts explain themselves, and the same hypothesis examples in all of CI."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

rooms = [f"tests.{path.name}" for path in Path(__file__).parent.iterdir() if path.is_dir()]
pytest.register_assert_rewrite("harness", "torture", *rooms)

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
