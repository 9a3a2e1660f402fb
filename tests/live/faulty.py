"""A program that runs penstock on a disk that fails at a chosen call. Each run is a process of its own, forked from one
that has everything read in, so that it costs little; orders come on stdin, a JSON object a line.

It prints `began PID`, what the run prints, and `ended CODE`, in this order: the run itself says that it began, for two
who print at once may cut each other's lines. Only calls upon the directory that is named can fail.
"""

from __future__ import annotations

import builtins
import gc
import importlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

PATHS = ("open", "rename", "unlink", "listdir", "scandir", "stat", "mkdir", "rmdir")
HANDLES = ("pwrite", "pread", "fsync", "fdatasync", "ftruncate", "posix_fallocate", "posix_fadvise", "close")
SHORT = 0  # in the place of an error's number: a write takes half of what it is given, and nothing else fails
NOT_OURS = ("penstock.sock",)

# By name: where its `main` is, and what else it will want to have read in.
PROGRAMS = {
    "penstock": ("penstock.cli.main", "penstock.server.app"),
    "penstock.history": ("penstock.history.__main__", "penstock.history.keeper"),
}


class Faults:
    """Calls are counted from 1. The first that fails is told in the file `told`, with time and thread; else all are."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.folder: str = order["folder"]
        self.at: int = order["at"]
        self.errno: int = order["errno"]
        self.for_good: bool = order["for_good"]
        self.told: str = order["told"]
        self.handles: set[int] = set()
        self.calls: list[str] = []

    def install(self) -> None:
        for name in PATHS:
            setattr(os, name, self._on_path(name, getattr(os, name)))
        for name in HANDLES:
            setattr(os, name, self._on_handle(name, getattr(os, name)))
        vars(builtins)["open"] = self._on_path("read", builtins.open)

    def _on_path(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def on_path(path: Any, *rest: Any, **named: Any) -> Any:
            if not self._is_ours(path):
                return call(path, *rest, **named)
            if self.errno != SHORT and self._fails(f"{name} {os.path.relpath(path, self.folder)}"):
                raise OSError(self.errno, os.strerror(self.errno), path)
            made = call(path, *rest, **named)
            if name == "open":
                self.handles.add(made)
            return made

        return on_path

    def _on_handle(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def on_handle(handle: int, *rest: Any) -> Any:
            if handle not in self.handles:
                return call(handle, *rest)
            if (self.errno != SHORT or name == "pwrite") and self._fails(name):
                if self.errno != SHORT:
                    raise OSError(self.errno, os.strerror(self.errno))
                rest = (bytes(rest[0])[: max(1, len(rest[0]) // 2)], *rest[1:])
            if name == "close":
                self.handles.discard(handle)
            return call(handle, *rest)

        return on_handle

    def _is_ours(self, path: Any) -> bool:
        if not isinstance(path, str) or os.path.basename(path) in NOT_OURS:
            return False
        return path == self.folder or path.startswith(self.folder + os.sep)

    def _fails(self, what: str) -> bool:
        self.calls.append(what)
        now = len(self.calls)
        if now == self.at:
            self.tell(f"{time.monotonic()} {threading.current_thread().name} {what}")
        return 0 < self.at == now or (self.for_good and 0 < self.at < now)

    def tell(self, text: str) -> None:
        with builtins.open(self.told, "w", encoding="utf-8") as file:
            file.write(text)


def run(order: dict[str, Any], program: Callable[[], Any]) -> None:
    """Ends the process, as the program itself would."""
    print("began", os.getpid(), flush=True)
    for handle, place in ((0, order["stdin"]), (2, order["log"])):
        os.dup2(os.open(place, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), handle)
    sys.argv = order["command"]
    os.sched_setscheduler = lambda *given: None  # whoever waits here waits for nobody else
    faults = Faults(order)
    faults.install()
    try:
        sys.exit(program())
    finally:
        if order["at"] == 0:
            faults.tell("\n".join(faults.calls))


def read_in(name: str) -> Callable[[], Any]:
    home, more = PROGRAMS[name]
    importlib.import_module(more)
    main: Callable[[], Any] = importlib.import_module(home).main
    gc.freeze()  # what is read in by now is nobody's garbage
    return main


def serve_orders() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        program = read_in(order["command"][0])
        pid = os.fork()
        if pid == 0:
            run(order, program)
        _, status = os.waitpid(pid, 0)
        print("ended", os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    serve_orders()
