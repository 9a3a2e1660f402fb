"""What the server says about itself: one line an event on stderr, for people on a terminal, JSON otherwise.

Nothing on the path of a request may log; what happens there is counted, and the counts are logged or shown later.
"""

from __future__ import annotations

import logging
import time
import traceback
from datetime import UTC, datetime
from typing import Final, TextIO

import msgspec

LEVELS: Final = ("debug", "info", "warning", "error")
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:,/[]@+*%")


class Log:
    """An event has a name (a few words, past tense or a state) and fields. Words that change belong into fields."""

    def __init__(self, stream: TextIO, form: str = "auto", level: str = "info") -> None:
        self._stream = stream
        self.configure(form, level)

    def configure(self, form: str, level: str) -> None:
        self._human = form == "human" or (form == "auto" and self._stream.isatty())
        self._least = LEVELS.index(level)

    def debug(self, event: str, **fields: object) -> None:
        self.say("debug", event, fields)

    def info(self, event: str, **fields: object) -> None:
        self.say("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self.say("warning", event, fields)

    def error(self, event: str, **fields: object) -> None:
        self.say("error", event, fields)

    def failure(self, event: str, error: BaseException, **fields: object) -> None:
        """Something that should not have happened, with the place it happened at."""
        trace = "".join(traceback.format_exception(error))
        self.error(event, why=str(error), kind=type(error).__name__, **fields, trace=trace)

    def say(self, level: str, event: str, fields: dict[str, object]) -> None:
        if LEVELS.index(level) < self._least:
            return
        form = _human_line if self._human else _json_line
        try:
            self._stream.write(form(time.time(), level, event, fields))
            self._stream.flush()
        except (OSError, ValueError):
            pass  # a log nobody can read is no reason to stop serving


def _human_line(at_s: float, level: str, event: str, fields: dict[str, object]) -> str:
    clock = datetime.fromtimestamp(at_s, UTC).astimezone().strftime("%H:%M:%S.%f")[:-3]
    told = "".join([f"  {name}={_human_value(value)}" for name, value in fields.items()])
    return f"{clock} {level:<7} {event}{told}\n"


def _human_value(value: object) -> str:
    text = str(value)
    return text if text and _PLAIN.issuperset(text) else msgspec.json.encode(text).decode()


def _json_line(at_s: float, level: str, event: str, fields: dict[str, object]) -> str:
    at = datetime.fromtimestamp(at_s, UTC).isoformat(timespec="milliseconds")
    told = {name: value if isinstance(value, bool | int | float) else str(value) for name, value in fields.items()}
    return msgspec.json.encode({"at": at, "level": level, "event": event, **told}).decode() + "\n"


class LibraryLog(logging.Handler):
    """What libraries log through the standard library, as events of ours."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        level = record.levelname.lower()
        fields: dict[str, object] = {"library": record.name, "message": record.getMessage()}
        if record.exc_info and record.exc_info[1] is not None:
            fields["trace"] = "".join(traceback.format_exception(record.exc_info[1]))
        self._log.say(level if level in LEVELS else "error", "library message", fields)
