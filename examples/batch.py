"""Move many messages at once: a batch goes in whole or not at all, and comes out in as few requests as it went in."""

from __future__ import annotations

import asyncio
import sys

from penstock import Client, Draft

COUNT = 5_000
BATCH = 500


async def main(url: str) -> None:
    async with Client(url, stage="write") as client:
        drafts = [Draft(json={"number": number}, key=f"customer {number % 10}") for number in range(COUNT)]
        batches = [drafts[at : at + BATCH] for at in range(0, COUNT, BATCH)]
        await asyncio.gather(*(client.publish_many("numbers", batch) for batch in batches))
        print("published", COUNT)

        total = 0
        while messages := await client.reserve("numbers", max=BATCH, lease=60):
            total += sum(message.json()["number"] for message in messages)
            done = await client.finish(messages)
            assert all(done), "a lease had run out: that message may come again"
        print("the sum is", total)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:] or ["ws://127.0.0.1:8081"]))
