"""A loop on a thread of its own, for callers without one: they have it do something, and wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from penstock.client.errors import Disconnected

ValueT = TypeVar("ValueT")


class Portal:
    """Any thread may call it. The thread behind it does not keep the process alive."""

    def __init__(self) -> None:
        self._loop: Final = asyncio.new_event_loop()
        self._thread: Final = threading.Thread(target=self._loop.run_forever, name="penstock", daemon=True)
        self._thread.start()
        self._lock: Final = threading.Lock()
        self._closed = False

    def run(self, work: Coroutine[Any, Any, ValueT]) -> ValueT:
        """Whoever is interrupted while waiting takes the work back."""
        with self._lock:
            if self._closed:
                work.close()
                raise Disconnected("the client is closed")
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            settled = asyncio.run_coroutine_threadsafe(self._settled(), self._loop)
        settled.result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _settled(self) -> None:
        """What other threads had just begun comes to its end."""
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others)
