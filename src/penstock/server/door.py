"""The unix socket in the data directory, by which a running server is reached. Paths of any length work.

The kernel takes at most 107 bytes for the path of a socket; a longer one is reached through a handle of its directory.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SOCKET_NAME: Final = "penstock.sock"
_PATH_MAX: Final = 100


@contextmanager
def socket_path(data: str | Path) -> Iterator[str]:
    """A path to bind or connect to, good while the context lasts."""
    path = os.path.join(os.fspath(data), SOCKET_NAME)
    if len(os.fsencode(path)) <= _PATH_MAX:
        yield path
        return
    handle = os.open(data, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{handle}/{SOCKET_NAME}"
    finally:
        os.close(handle)


def bind(data: str | Path) -> socket.socket:
    """For the holder of the directory's lock only: a socket that a dead server left behind is taken away."""
    remove(data)
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        with socket_path(data) as path:
            door.bind(path)
    except OSError:
        door.close()
        raise
    finally:
        os.umask(mask)
    return door


def remove(data: str | Path) -> None:
    Path(data, SOCKET_NAME).unlink(missing_ok=True)
