"""`make demo`: orders are published, worked on, retried, poisoned and redriven, over a kill -9 of the server."""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from demo.client import Client
from demo.telling import Story, penstock
from harness.server import Server, serving

HERE = Path(__file__).parent
ORDERS = 300
DELAYED = 60
POISONED = 4
CONFIG = """
confirm = "sync"
[dialect.deferred]
queue = "orders"
stuck_timeout_s = 1
stuck_attempts = 1
[[policy]]
match = "orders"
dead_letter = "orders.dead"
"""


class Worker(threading.Thread):
    """Finishes what it can; a poisoned order it cannot, until it is mended. Reconnects when the server is gone."""

    def __init__(self, port: int, mended: bool = False) -> None:
        super().__init__(daemon=True)
        self.port = port
        self.finished: list[str] = []
        self.tries: dict[str, int] = {}
        self._mended = mended
        self._stopping = False
        self.start()

    def run(self) -> None:
        while not self._stopping:
            with contextlib.suppress(OSError):
                client = Client(self.port)
                while not self._stopping:
                    self._one(client)
                client.close()
            time.sleep(0.05)

    def stop(self) -> None:
        self._stopping = True
        self.join()

    def _one(self, client: Client) -> None:
        found = client.reserve()
        if found is None:
            time.sleep(0.01)
            return
        id, body = found
        self.tries[body] = self.tries.get(body, 0) + 1
        if (self._mended or "poison" not in body) and client.finish(id):
            self.finished.append(body)


def publish_orders(port: int, kind: str, count: int, delay_ms: int = 0) -> list[str]:
    client = Client(port)
    ids = [client.publish(f"{kind} {number}", delay_ms) for number in range(count)]
    client.close()
    return ids


def count(data: Path, queue: str, what: str) -> int:
    shown = json.loads(penstock(data, "queue", "list", "--output", "json").stdout)
    return sum(row["counts"][what] for row in shown["queues"] if row["name"] == queue)


def until(holds: Callable[[], bool], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return False


# -- the chapters


def publish_all(story: Story, server: Server) -> str:
    """The id of one poisoned order."""
    story.step("A server on a fresh directory. Every answer waits until it would survive a power cut.")
    story.say(f"deferred listens on 127.0.0.1:{server.port}; pid {server.pid}")
    story.step(f"{ORDERS} orders, {DELAYED} of them for later, {POISONED} of them poisoned; nobody works on them yet.")
    publish_orders(server.port, "order", ORDERS - DELAYED - POISONED)
    publish_orders(server.port, "later", DELAYED, delay_ms=1_500)
    poisoned = publish_orders(server.port, "poison", POISONED)
    story.command(server.data, "queue", "list")
    return poisoned[0]


def work_until_the_kill(story: Story, server: Server) -> Worker:
    story.step("A worker begins. In the middle of its work, the server is killed: kill -9.")
    worker = Worker(server.port)
    until(lambda: len(worker.finished) > ORDERS // 4)
    server.kill()
    server.wait()
    story.say(f"dead, after {len(worker.finished)} orders were finished")
    return worker


def come_back(story: Story, server: Server, worker: Worker) -> None:
    story.step("The server starts again on the same directory: the journal is read back.")
    worker.port = server.port
    story.command(server.data, "queue", "list")
    story.step(
        "The worker comes back by itself. Delays pass, leases end, poisoned orders are tried again, then dropped."
    )
    done = until(lambda: count(server.data, "orders", "finished") == ORDERS - POISONED)
    story.check(f"{ORDERS - POISONED} orders finished, not one lost by the kill", done)
    dead = until(lambda: count(server.data, "orders.dead", "ready") == POISONED)
    story.check(f"{POISONED} poisoned orders are dead letters", dead)
    worker.stop()
    story.check("no order was finished twice", len(set(worker.finished)) == len(worker.finished))
    tries = [number for body, number in worker.tries.items() if body.startswith("poison")]
    story.check(f"each poisoned order was tried {max(tries)} times", min(tries) == max(tries) == 2)


def look_at_the_dead(story: Story, server: Server, poisoned: str) -> None:
    story.step("Every change of a message is a fact. This is the whole life of one poisoned order.")
    story.command(server.data, "message", "show", poisoned)
    story.step("What lies in the dead-letter queue, and what a redrive would do.")
    story.command(server.data, "dead", "list", "orders.dead")
    story.command(server.data, "dead", "redrive", "orders.dead", "--contains", "poison 1", "--dry-run")


def redrive(story: Story, server: Server) -> None:
    story.step("The worker is mended, and the dead letters go back to work, each into the queue it was dropped from.")
    worker = Worker(server.port, mended=True)
    story.command(server.data, "dead", "redrive", "orders.dead", "--rate", "50/s")
    done = until(lambda: count(server.data, "orders", "finished") == ORDERS)
    worker.stop()
    story.check(f"all {ORDERS} orders are finished", done)
    story.check("each that was redriven was finished once", len(worker.finished) == POISONED == len(worker.tries))
    story.command(server.data, "queue", "list")


def stop(story: Story, server: Server) -> None:
    story.step("A clean stop, then the journal is checked, byte by byte.")
    story.check("the server stopped with exit code 0", server.stop() == 0)
    story.command(server.data, "journal", "info")
    story.command(server.data, "journal", "verify")


def main() -> None:
    data = HERE / "data"
    shutil.rmtree(data, ignore_errors=True)
    config = HERE / "demo.toml"
    config.write_text(CONFIG, encoding="utf-8")
    flags = ("--config", str(config))
    story = Story("penstock: one durable queue server, its journal, and what it remembers")
    with serving(data, *flags) as server:
        poisoned = publish_all(story, server)
        worker = work_until_the_kill(story, server)
    with serving(data, *flags) as server:
        come_back(story, server, worker)
        look_at_the_dead(story, server, poisoned)
        redrive(story, server)
        stop(story, server)
    story.done()


if __name__ == "__main__":
    main()
