"""Checks of the machine, each with a case that is well and one that is not."""

from __future__ import annotations

import resource

import pytest

from penstock.cli import machine
from penstock.cli.machine import FAIL, OK, WARN


@pytest.mark.parametrize(("found", "verdict"), [((3, 10, 9), FAIL), ((3, 11, 0), OK), ((4, 0, 0), OK)])
def test_python_must_be_new_enough(found: tuple[int, ...], verdict: str) -> None:
    check = machine.check_python(found)
    assert (check.verdict, check.found) == (verdict, ".".join(map(str, found)))
    assert bool(check.advice) == (verdict == FAIL)


def test_packages_are_told_with_their_versions() -> None:
    check = machine.check_packages(("click", "rich"))
    assert check.verdict == OK
    assert check.found.startswith("click 8.")


def test_a_missing_package_fails() -> None:
    check = machine.check_packages(("click", "no-such-package"))
    assert (check.verdict, check.found) == (FAIL, "missing: no-such-package")


def test_the_core_is_compiled_or_interpreted() -> None:
    assert machine.check_core().found in ("compiled", "interpreted")


@pytest.mark.parametrize(
    ("limit", "verdict"), [(1_023, WARN), (1_063, WARN), (1_064, OK), (resource.RLIM_INFINITY, OK)]
)
def test_every_connection_needs_an_open_file_and_the_server_some_more(limit: int, verdict: str) -> None:
    check = machine.check_open_files(1_000, (limit, limit))
    assert check.verdict == verdict
    assert ("ulimit -n 1064" in check.advice) == (verdict == WARN)


@pytest.mark.parametrize(("source", "verdict"), [("tsc", OK), ("kvm-clock", OK), ("", OK), ("hpet", WARN)])
def test_a_slow_clock_is_warned_about(source: str, verdict: str) -> None:
    assert machine.check_clock_source(source).verdict == verdict


@pytest.mark.parametrize(("now_s", "verdict"), [(0.0, FAIL), (1_767_323_045.0, OK)])
def test_a_clock_that_was_never_set_fails(now_s: float, verdict: str) -> None:
    assert machine.check_wall_clock(now_s).verdict == verdict
