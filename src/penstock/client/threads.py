"""A plain function on a thread of its own, awaited. The thread does not keep the process alive."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

ValueT = TypeVar("ValueT")


async def in_thread(function: Callable[[], ValueT]) -> ValueT:
    """Whoever stops waiting leaves it running: nothing can stop a thread."""
    done: concurrent.futures.Future[ValueT] = concurrent.futures.Future()
    context = contextvars.copy_context()
    threading.Thread(target=_run, args=(done, context, function), name="handler", daemon=True).start()
    return await asyncio.wrap_future(done)


def _run(done: concurrent.futures.Future[ValueT], context: contextvars.Context, function: Callable[[], ValueT]) -> None:
    if not done.set_running_or_notify_cancel():
        return
    try:
        done.set_result(context.run(function))
    except BaseException as error:
        done.set_exception(error)
