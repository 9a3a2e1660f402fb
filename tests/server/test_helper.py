"""A process beside the server: it gives way from its first moment."""

from __future__ import annotations

import os
import sys

from penstock.server.helper import NICENESS, Helper
from tests.server.fakes import run


def test_it_gives_way_to_the_server_before_it_has_read_itself_in() -> None:
    async def scenario() -> None:
        helper = Helper([sys.executable, "-c", "input()"], lambda line: None)
        try:
            own = os.getpriority(os.PRIO_PROCESS, 0)
            assert os.getpriority(os.PRIO_PROCESS, helper.pid) == min(own + NICENESS, 19)
        finally:
            helper.end()

    run(scenario())
