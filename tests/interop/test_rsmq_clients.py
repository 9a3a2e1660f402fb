"""RSMQ's stock clients, unmodified: npm's `rsmq` and `rsmq-worker`, PyPI's `PyRSMQ`."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.interop.nodes import FOLDER, ROOT, run
from tests.interop.targets import Target, ran, venv

SCRIPTS = FOLDER / "rsmq"
EXAMPLE = ROOT / "examples" / "rsmq.js"


def test_every_call_of_the_npm_client_keeps_its_promise(target: Target, fresh: Callable[[], str]) -> None:
    assert len(run(SCRIPTS / "calls.js", target.port, fresh()).splitlines()) == 9


def test_a_subscriber_hears_of_every_message_in_realtime(target: Target, fresh: Callable[[], str]) -> None:
    queue = fresh()
    heard = [json.loads(line) for line in run(SCRIPTS / "realtime.js", target.port, queue).splitlines()]
    assert heard == [{"channel": f"rsmq:rt:{queue}", "count": str(count)} for count in (1, 2, 3)]


def test_the_npm_worker_works_off_its_queue_and_gives_up_what_it_must(target: Target, fresh: Callable[[], str]) -> None:
    told = [json.loads(line) for line in run(SCRIPTS / "worker.js", target.port, fresh()).splitlines()]
    assert sorted((event["event"], event["body"]) for event in told[:-1]) == [
        ("deleted", "good"),
        ("deleted", "poison"),
        ("exceeded", "poison"),
        ("message", "good"),
        ("message", "poison"),
        ("message", "poison"),
    ]
    assert told[-1] == {"event": "size", "body": 0}


def test_every_call_of_the_python_client_keeps_its_promise(target: Target, fresh: Callable[[], str]) -> None:
    python = str(venv("pyrsmq") / "python")
    assert len(ran([python, str(SCRIPTS / "calls.py"), str(target.port), fresh()]).stdout.splitlines()) == 11


def test_the_example_works_again_and_again_and_is_short(target: Target) -> None:
    for _ in range(2):
        heard = run(EXAMPLE, target.port).splitlines()
        assert heard == ["sent hello", "working on hello, received 1 time", "deleted"]
    assert len(EXAMPLE.read_text("utf-8").splitlines()) < 40
