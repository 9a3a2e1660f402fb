"""A worker: handlers by queue, retries with back-off, a graceful end at Ctrl-C. Run `make serve`, then this."""

from __future__ import annotations

import sys

import msgspec

from penstock import Backoff, Drop, Message, Retry, Worker

worker = Worker(*sys.argv[1:2])


class Order(msgspec.Struct):
    number: int
    items: list[str] = []


@worker.handle("orders", concurrency=8, of=Order, backoff=Backoff(first=1, most=60))
async def cook(order: Order) -> None:
    """An exception would be a failure: the message comes again after 1, 2, 4 … seconds."""
    if not order.items:
        raise Drop("nothing was ordered")
    print("cooking", order.number, order.items, flush=True)


@worker.handle("mails", lease=120)
def send(message: Message) -> None:
    """A plain function runs on a thread. Its lease is extended for as long as it takes."""
    if message.text == "not now":
        raise Retry(after=0.5)
    print("sending", message.text, "at attempt", message.deliveries, flush=True)


if __name__ == "__main__":
    worker.run()
