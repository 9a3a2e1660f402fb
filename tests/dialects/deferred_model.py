"""The dialect `deferred` as its page says it, in the plainest way: sessions are compared with it, and share no code."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass

DELAY_MAX_MS = 2_147_483_647
BODY_MAX = 1_048_576
LINE_MAX = 1_048_640

COMMAND = re.compile(
    rb"(?P<add>ADD)(?: (?P<add_ms>[^ ]*)(?: (?P<body>.*))?)?"
    rb"|(?P<reserve>RESERVE)"
    rb"|(?P<delete>DELETE)(?: (?P<delete_id>.*))?"
    rb"|(?P<return>RETURN)(?: (?P<return_id>[^ ]*)(?: (?P<return_ms>.*))?)?"
    rb"|(?P<stats>STATS)",
    re.DOTALL,
)


@dataclass
class Task:
    number: int
    body: bytes
    due_ms: int
    reserved: bool = False


class Model:
    """One connection to an empty queue, without a watcher. `ids` are what the server will call its tasks, in order."""

    def __init__(self, ids: Sequence[bytes], stats_tail: bytes) -> None:
        self.now_ms = 0
        self.closed = False
        self.said = b""
        self.tasks: dict[bytes, Task] = {}
        self._ids = ids
        self._stats_tail = stats_tail
        self._added = 0
        self._text = b""

    def state(self) -> dict[bytes, tuple[bytes, int, bool]]:
        return {shown: (task.body, task.due_ms, task.reserved) for shown, task in self.tasks.items()}

    def agrees(self, heard: bytes) -> bool:
        return heard == self.said

    def pass_time(self, ms: int) -> None:
        self.now_ms += ms

    def receive(self, data: bytes) -> None:
        """Answers what has become a whole line."""
        *lines, self._text = (self._text + data).split(b"\n")
        for line in lines:
            self.closed = self.closed or len(line) > LINE_MAX
            if not self.closed:
                self.said += self._answer(line.removesuffix(b"\r")) + b"\n"
        self.closed = self.closed or len(self._text) > LINE_MAX

    def _answer(self, line: bytes) -> bytes:
        said = COMMAND.fullmatch(line)
        if said is None:
            return b"unknown command"
        if said["add"]:
            return self._add(said["add_ms"], said["body"])
        if said["reserve"]:
            return self._reserve()
        if said["delete"]:
            return self._delete(said["delete_id"])
        if said["return"]:
            return self._return(said["return_id"], said["return_ms"])
        waiting = sum(not task.reserved for task in self.tasks.values())
        return b"TASKS %d RESERVED %d %b" % (waiting, len(self.tasks) - waiting, self._stats_tail)

    def _add(self, ms: bytes | None, body: bytes | None) -> bytes:
        delay_ms = delay(ms)
        if delay_ms is None:
            return b"invalid DELAY_MS attr"
        if body is None or not utf_8(body) or len(body) > BODY_MAX:
            return b"invalid TASK_BODY attr"
        shown = self._ids[self._added]
        self.tasks[shown] = Task(self._added, body, self.now_ms + delay_ms)
        self._added += 1
        return b"TASK %b DELAY %dms" % (shown, delay_ms)

    def _reserve(self) -> bytes:
        due = [(task.due_ms, task.number, shown) for shown, task in self.tasks.items() if self._is_due(task)]
        if not due:
            return b"nil"
        shown = min(due)[2]
        self.tasks[shown].reserved = True
        body = self.tasks[shown].body
        if body.endswith(b"\r"):
            return b"TASK %b BODY64 %b" % (shown, base64.b64encode(body))
        return b"TASK %b BODY %b" % (shown, body)

    def _is_due(self, task: Task) -> bool:
        return not task.reserved and task.due_ms <= self.now_ms

    def _delete(self, shown: bytes | None) -> bytes:
        if not shown:
            return b"invalid TASK_ID attr"
        if shown not in self.tasks or not self.tasks[shown].reserved:
            return b"unknown TASK_ID"
        del self.tasks[shown]
        return b"ok"

    def _return(self, shown: bytes | None, ms: bytes | None) -> bytes:
        delay_ms = delay(ms)
        if not shown:
            return b"invalid TASK_ID attr"
        if delay_ms is None:
            return b"invalid DELAY_MS attr"
        if shown not in self.tasks or not self.tasks[shown].reserved:
            return b"unknown TASK_ID"
        self.tasks[shown].reserved = False
        self.tasks[shown].due_ms = self.now_ms + delay_ms
        return b"ok"


def delay(text: bytes | None) -> int | None:
    if text is None or re.fullmatch(rb"0*[0-9]{1,10}", text) is None:
        return None
    value = int(text[-10:])
    return value if value <= DELAY_MAX_MS else None


def utf_8(body: bytes) -> bool:
    try:
        return body.decode().encode() == body
    except UnicodeDecodeError:
        return False
