"""A worker as a process: `python -m tests.client.workers PORT QUEUE FILE`. Each message becomes a line of the file."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from penstock import Message, Worker


def main(port: str, queue: str, file: str) -> None:
    worker = Worker(f"ws://127.0.0.1:{port}", grace=1.0)

    @worker.handle(queue, concurrency=2, lease=30)
    def handle(message: Message) -> None:
        with Path(file).open("a", encoding="utf-8") as lines:
            lines.write(f"{message.text}\n")
        if message.text == "slow":
            time.sleep(600)

    worker.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
