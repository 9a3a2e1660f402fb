"""A process beside the server that is told lines and says lines. The loop never waits for it.

What a line means is not known here.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable
from typing import IO, Final

import penstock

NICENESS: Final = 10  # beyond the server's
_NICEST: Final = 19
_READ_BYTES: Final = 1 << 16
_LOOK_S: Final = 0.01


class Helper:
    """Started at its making. Raises OSError where it cannot be."""

    def __init__(self, command: list[str], hear: Callable[[bytes], None]) -> None:
        self._hear = hear
        self._rest = b""
        self._loop = asyncio.get_running_loop()
        # A session of its own: what is typed at the server's terminal is the server's.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
            env=_environment(),
        )
        # From its first moment: to read itself in may take it as long as most of its work.
        own = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, self._process.pid, min(own + NICENESS, _NICEST))
        self._stdin, self._stdout = _open(self._process.stdin), _open(self._process.stdout)
        self._loop.add_reader(self._stdout, self._read)

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it runs. Once it is known, everything that was said has been heard."""
        code = self._process.poll()
        while code is not None and self._read():
            pass
        return code

    def tell(self, line: bytes) -> bool:
        """False: it does not listen just now, or no longer."""
        try:
            os.write(self._stdin.fileno(), line + b"\n")
        except (BlockingIOError, BrokenPipeError):
            return False
        return True

    async def finish(self, seconds: float) -> None:
        """Nothing more will be told; it may come to its own end for so long."""
        self._stdin.close()
        until = self._loop.time() + seconds
        while self._process.poll() is None and self._loop.time() < until:
            await asyncio.sleep(_LOOK_S)
        self.exit_code()

    def kill(self) -> None:
        """`exit_code` tells when it has ended."""
        self._process.kill()

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._loop.remove_reader(self._stdout)
        self._stdin.close()
        self._stdout.close()

    def _read(self) -> bool:
        """Whether there was anything."""
        try:
            said = os.read(self._stdout.fileno(), _READ_BYTES)
        except BlockingIOError:
            return False
        if not said:
            self._loop.remove_reader(self._stdout)
            return False
        *lines, self._rest = (self._rest + said).split(b"\n")
        for line in lines:
            self._hear(line)
        return True


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    os.set_blocking(pipe.fileno(), False)
    return pipe


def _environment() -> dict[str, str]:
    """With the very package that the server runs from, wherever that was found."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(penstock.__file__)))
    path = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}
