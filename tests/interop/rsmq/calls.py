"""Every call that PyPI's `PyRSMQ` documents, run by a Python that has it. Each line printed is one promise kept."""

from __future__ import annotations

import re
import sys
import threading
import time
from typing import Any

from redis import Redis
from rsmq import RedisSMQ
from rsmq.cmd.exceptions import NoMessageInQueue, QueueAlreadyExists, QueueDoesNotExist
from rsmq.consumer import RedisSMQConsumerThread

PORT = int(sys.argv[1])
NAME = sys.argv[2]
PATIENCE_S = 30.0


def raises(kind: type[Exception], command: Any) -> None:
    try:
        command.execute()
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


def controller(**said: Any) -> Any:
    return RedisSMQ(host="127.0.0.1", port=PORT, qname=NAME, **said)


def main() -> None:
    queue = controller()
    assert queue.createQueue(delay=0).vt(40).maxsize(2_048).execute() is True
    raises(QueueAlreadyExists, queue.createQueue())
    assert NAME in queue.listQueues().execute()
    print("a queue is made once and listed")

    described = queue.getQueueAttributes().execute()
    assert abs(described.pop("created") - time.time()) < 60
    assert abs(described.pop("modified") - time.time()) < 60
    counts = {"totalrecv": 0, "totalsent": 0, "msgs": 0, "hiddenmsgs": 0}
    assert described == {"vt": 40.0, "delay": 0.0, "maxsize": 2_048, **counts}
    print("it is described")

    raises(NoMessageInQueue, queue.receiveMessage())
    raises(NoMessageInQueue, queue.popMessage())
    assert queue.receiveMessage().exceptions(False).execute() is False
    print("an empty queue gives nothing")

    first = queue.sendMessage().message("ü€😀").execute()
    second = queue.sendMessage(message={"a": [1]}).execute()
    assert re.fullmatch("[0-9a-z]{10}[A-Za-z0-9]{22}", first)
    received = queue.receiveMessage().execute()
    assert (received["id"], received["message"], received["rc"]) == (first, "ü€😀", 1)
    assert abs(received["ts"] / 1_000 - time.time()) < 60
    assert queue.popMessage().execute()["id"] == second
    print("messages are received and popped, under the ids they were sent with")

    assert queue.changeMessageVisibility(id=first, vt=0).execute() is True
    again = queue.receiveMessage(vt=60).execute()
    assert (again["id"], again["rc"], again["ts"]) == (first, 2, received["ts"])
    assert queue.deleteMessage(id=first).execute() is True
    assert queue.deleteMessage(id=first).execute() is False
    raises(NoMessageInQueue, queue.changeMessageVisibility(id=first, vt=5))
    print("visibility is changed, and what is deleted is gone")

    late = queue.sendMessage(delay=0.3).message("late").execute()
    assert queue.receiveMessage().exceptions(False).execute() is False
    assert queue.getQueueAttributes().execute()["hiddenmsgs"] == 1
    assert patiently(lambda: queue.receiveMessage(quiet=True).exceptions(False).execute())["id"] == late
    print("a delayed message is hidden, and comes")

    described = queue.setQueueAttributes(vt=7, delay=3, maxsize=1_024).execute()
    shown = {name: described[name] for name in ("vt", "delay", "maxsize", "totalrecv", "totalsent", "msgs")}
    assert shown == {"vt": 7.0, "delay": 3.0, "maxsize": 1_024, "totalrecv": 4, "totalsent": 3, "msgs": 1}
    print("attributes are set")

    bare = RedisSMQ(client=Redis(port=PORT), qname=NAME, exceptions=False)
    assert NAME.encode() in bare.listQueues().execute()
    bare.sendMessage(message=b"\x00\xff", delay=0).execute()
    assert bare.popMessage().execute()["message"] == b"\x00\xff"
    print("a client that decodes nothing gets bytes")

    assert queue.deleteQueue().execute() is True
    raises(QueueDoesNotExist, queue.deleteQueue())
    raises(QueueDoesNotExist, queue.getQueueAttributes())
    raises(QueueDoesNotExist, queue.sendMessage(message="x"))
    print("a queue that is deleted is gone")

    odd = RedisSMQ(port=PORT, qname=f"{NAME} . ü")
    assert odd.createQueue().execute() is True
    odd.sendMessage(message="x").execute()
    assert odd.popMessage().execute()["message"] == "x"
    assert odd.deleteQueue().execute() is True
    print("a name may have any letters but a colon")

    consume()
    print("a consumer works a queue off, and takes back what fails once")
    queue.quit()


def consume() -> None:
    seen: list[tuple[str, int]] = []
    done = threading.Event()

    def work(id: str, message: str, rc: int, ts: int) -> bool:
        seen.append((message, rc))
        if len(seen) == 3:
            done.set()
        return (message, rc) != ("fails once", 1)

    controller().createQueue().execute()
    for body in ("fails once", "good"):
        controller().sendMessage(message=body).execute()
    consumer = RedisSMQConsumerThread(NAME, work, host="127.0.0.1", port=PORT, empty_queue_delay=0.02)
    consumer.start()
    assert done.wait(PATIENCE_S)
    patiently(lambda: controller().getQueueAttributes().execute()["msgs"] == 0)
    consumer.stop()
    consumer.join(PATIENCE_S)
    assert sorted(seen) == [("fails once", 1), ("fails once", 2), ("good", 1)]


def patiently(ask: Any) -> Any:
    deadline_s = time.monotonic() + PATIENCE_S
    while not (found := ask()):
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(0.01)
    return found


if __name__ == "__main__":
    main()
