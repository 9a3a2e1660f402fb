"""Without asyncio: the same calls, blocking, from any thread. `make serve`, then `python examples/sync_client.py`."""

from __future__ import annotations

import sys

from penstock import Timeout
from penstock.sync import Client


def main(url: str) -> None:
    with Client(url) as client:
        client.publish("letters", "dear reader")

        # Waits for a message; finishes it after the block, or releases it as failed if the block raises.
        with client.work("letters", lease=30, wait=5) as message:
            print("reading", message.text)

        # The same by hand.
        client.publish("letters", "yours truly")
        for message in client.reserve("letters", max=10, wait=5):
            print("reading", message.text)
            message.finish()

        try:
            with client.work("letters", wait=0.1):
                pass
        except Timeout:
            print("no more letters")


if __name__ == "__main__":
    main(*sys.argv[1:] or ["ws://127.0.0.1:8081"])
