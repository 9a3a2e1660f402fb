"""One line an event: JSON for machines, readable for people, and never a reason to stop."""

from __future__ import annotations

import json
import logging
from io import StringIO

import pytest

from penstock.server.log import LibraryLog, Log


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_json_has_one_object_a_line() -> None:
    stream = StringIO()
    log = Log(stream)
    log.info("listening", address="127.0.0.1:1", port=1)
    log.error("failed", why=OSError("line\nbreak"))
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first["at"].endswith("+00:00")
    assert {key: first[key] for key in ("level", "event", "address", "port")} == {
        "level": "info",
        "event": "listening",
        "address": "127.0.0.1:1",
        "port": 1,
    }
    assert second["why"] == "line\nbreak"


def test_a_terminal_is_given_words() -> None:
    stream = Terminal()
    Log(stream).warning("torn tail cut", cut_bytes=12, why="two words")
    line = stream.getvalue()
    assert line.endswith('warning torn tail cut  cut_bytes=12  why="two words"\n')


def test_what_came_from_outside_cannot_break_a_line_on_a_terminal() -> None:
    stream = Terminal()
    Log(stream).info("event", name="a\n\x1b[2Jb")
    assert stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize(("form", "human"), [("auto", False), ("human", True), ("json", False)])
def test_the_format_can_be_said(form: str, human: bool) -> None:
    stream = StringIO()
    Log(stream, form).info("event")
    assert stream.getvalue().startswith("{") is not human


def test_less_important_events_are_left_out() -> None:
    stream = StringIO()
    log = Log(stream, "json", "warning")
    log.info("left out")
    log.warning("told")
    log.configure("json", "debug")
    log.debug("told too")
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["told", "told too"]


def test_a_closed_stream_does_not_stop_the_server() -> None:
    stream = StringIO()
    log = Log(stream)
    stream.close()
    log.error("nobody hears this")


def test_what_libraries_log_becomes_an_event() -> None:
    stream = StringIO()
    record = logging.LogRecord("aiohttp.server", logging.CRITICAL, "", 0, "went %s", ("wrong",), None)
    LibraryLog(Log(stream)).handle(record)
    told = json.loads(stream.getvalue())
    assert (told["level"], told["library"], told["message"]) == ("error", "aiohttp.server", "went wrong")
