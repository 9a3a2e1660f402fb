"""For tests of programs that use penstock: a whole broker inside the test, whose time moves only when it is told to."""

from __future__ import annotations

from penstock.testing.broker import Broker

__all__ = ["Broker"]
