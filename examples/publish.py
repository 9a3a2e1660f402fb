"""Publish messages: text, JSON, later, once. Run `make serve`, then `python examples/publish.py`."""

from __future__ import annotations

import asyncio
import sys

from penstock import Client, Full


async def main(url: str) -> None:
    async with Client(url) as client:
        # When publish returns the message is on the disk: it survives a power cut.
        told = await client.publish("orders", "order 1")
        print("published", told.id)

        await client.publish("orders", json={"number": 2, "items": ["tea", "milk"]}, priority=10)
        await client.publish("orders", "order 3", delay=60, ttl=86_400)

        # The second of these is the first once more, where the queue's policy has a dedup window.
        await client.publish("orders", "order 4", dedup_id="order-4")
        again = await client.publish("orders", "order 4", dedup_id="order-4")
        print("a duplicate" if again.duplicate else "one more")

        # For figures that may be lost with the machine: do not wait for the disk.
        await client.publish("metrics", "17", stage="ready")

        try:
            await client.publish("orders", "order 5", timeout=2)
        except Full:
            print("no room: try again later")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:] or ["ws://127.0.0.1:8081"]))
