"""Clients of `etzel` that publish, fetch and acknowledge: their own messages, and others'."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.dialects.websocket_model import is_text
from torture.crowd.frames import Framed, framed, opening
from torture.crowd.history import History, Life

QUEUE = "default"
DELAYS_S = (0, 0, 0, 0, 1)
EXPIRES_S = (0, 0, 0, 0, 1)
TIMEOUTS_S = (None, None, 5)  # of its own: this is the shortest there is


class Fetcher(Framed):
    dialect = "etzel"

    def __init__(self, port: int, history: History, name: str, random: random.Random) -> None:
        super().__init__(port, history, name, random)
        self.send(opening())

    def said(self, payload: bytes, now_s: float) -> None:
        self.row.popleft()(json.loads(payload), now_s)

    def request(self, now_s: float) -> bytes:
        choice = self.random.random()
        if choice < 0.30:
            return self._publish(now_s)
        life = None if choice < 0.65 else self.done()
        return self._fetch(now_s) if life is None else self._acknowledge(life)

    def _publish(self, now_s: float) -> bytes:
        body = self.any_body()
        delay_s, timeout_s = self.random.choice(DELAYS_S), self.random.choice(TIMEOUTS_S)
        expires_s = self.random.choice(EXPIRES_S) if self.history.finals and not delay_s else 0
        life = self.publishing(body, now_s, delay_s)
        life.lease_s = timeout_s or 0
        if expires_s:
            life.ttl_s, life.may_expire_s = expires_s, now_s + expires_s

        def told(said: dict[str, Any], now_s: float) -> None:
            if said != {"cmd": "ok"}:
                self.history.breaks("answer", f"PUB answered {said}")
            else:
                self.published(life)

        self.row.append(told)
        times = {"delay": delay_s, "expires": expires_s} | ({"timeout": timeout_s} if timeout_s else {})
        return asked("PUB", msg=body.decode() if is_text(body) else list(body), **times)

    def _fetch(self, sent_s: float) -> bytes:
        def told(said: dict[str, Any], now_s: float) -> None:
            if said["cmd"] != "msg":
                return
            body = said["msg"].encode() if isinstance(said["msg"], str) else bytes(said["msg"])
            life = self.delivered(said["uid"].encode(), body, sent_s, now_s)
            if life is not None:
                self.history.counted(life, said["error_count"] + 1, sent_s)

        self.row.append(told)
        return asked("FET")

    def _acknowledge(self, life: Life) -> bytes:
        """The answer says that it is gone, whoever has finished it."""
        self.history.finishing(life)

        def told(said: dict[str, Any], now_s: float) -> None:
            if said["cmd"] != "okack":
                self.history.breaks("answer", f"ACK answered {said}")
            else:
                self.finished(life)

        self.row.append(told)
        return asked(self.random.choice(("ACK", "DEL")), uid=life.ids[self.dialect].decode())


def asked(cmd: str, **members: object) -> bytes:
    return framed(json.dumps({"cmd": cmd, "qname": QUEUE, **members}).encode())
