"""What clients were told before a power cut, held against what is on the disk after it.

It adds to a History when things were asked for and told.
"""

from __future__ import annotations

import math
import time
from collections.abc import Set
from dataclasses import dataclass, field

from torture.crowd.history import BODY, LOST, RESURRECTED, History, Life

LATE = "answered after the disk had died"
HOLE = "a hole"
SURVIVES = "sync"  # the stage that survives a power cut


@dataclass
class Promises(History):
    """At a stage that does not survive a cut what is lost is counted, and only a hole breaks the law: whatever was
    asked for after something that is lost had been told is lost as well."""

    cut_s: float = math.inf  # from then on nothing reaches the disk
    lost: int = 0
    returned: int = 0  # told finished, and there again
    late: int = 0  # answers that report a change, to requests sent after the cut
    _asked_s: float = math.inf  # when that was asked for of which is being told; inf: just now
    _sent_s: dict[Life, float] = field(default_factory=dict)
    _told_s: dict[Life, float] = field(default_factory=dict)
    _finish_sent_s: dict[Life, float] = field(default_factory=dict)
    _finish_told_s: dict[Life, float] = field(default_factory=dict)
    _release_sent_s: dict[Life, float] = field(default_factory=dict)

    # -- what was asked and told

    def publishing(self, body: bytes, delay_s: float, now_s: float) -> Life:
        life = super().publishing(body, delay_s, now_s)
        self._sent_s[life] = now_s
        return life

    def posted(self, life: Life) -> None:
        self._judge(self._sent_s.get(life, 0.0), "a publish")
        self._told_s.setdefault(life, time.monotonic())
        super().posted(life)

    def delivered(self, id: bytes, body: bytes, sent_s: float, now_s: float) -> Life | None:
        self._judge(sent_s, "a reservation")
        return super().delivered(id, body, sent_s, now_s)

    def taken(self, id: bytes, body: bytes, sent_s: float, now_s: float) -> None:
        """It was asked to be finished when it was asked for."""
        self._asked_s = sent_s
        super().taken(id, body, sent_s, now_s)
        self._asked_s = math.inf

    def noticed(self, life: Life, now_s: float) -> None:
        """Nobody here knows when that was asked for."""
        self._asked_s = 0.0
        super().noticed(life, now_s)
        self._asked_s = math.inf

    def finishing(self, life: Life) -> None:
        """Where several have asked, it may be the first whose was granted."""
        asked_s = min(self._asked_s, time.monotonic())
        self._finish_sent_s[life] = min(asked_s, self._finish_sent_s.get(life, math.inf))
        super().finishing(life)

    def finished(self, life: Life) -> None:
        self._judge(self._finish_sent_s.get(life, 0.0), "a finish")
        self._finish_told_s[life] = time.monotonic()
        super().finished(life)

    def releasing(self, life: Life) -> None:
        self._release_sent_s.setdefault(life, time.monotonic())
        super().releasing(life)

    def released(self, life: Life, due_s: float) -> None:
        self._judge(self._release_sent_s.get(life, 0.0), "a release")
        super().released(life, due_s)

    def extended(self, life: Life, until_s: float) -> None:
        self._judge(self._release_sent_s.get(life, 0.0), "an extension")
        super().extended(life, until_s)

    def _judge(self, sent_s: float, what: str) -> None:
        if sent_s > self.cut_s:
            self.late += 1
            self.breaks(LATE, f"{what}, asked for {sent_s - self.cut_s:.4f} s after")

    # -- the power is back

    def settle(self, there: Set[bytes]) -> None:
        """`there` are the bodies of all messages that live on the disk: what was in doubt is known now."""
        lost = self.unexplained([life for life in self.outstanding() if life.body not in there])
        returned = [life for life in self.lives.values() if life.body in there and self._is_told_finished(life)]
        self.lost += len(lost)
        self.returned += len(returned)
        if self.stage == SURVIVES:
            self._must_be_none(lost, returned)
        self._find_holes(lost, returned, there)
        self._begin_anew(there)

    def _is_told_finished(self, life: Life) -> bool:
        return life.finished or life.gone_s < math.inf

    def _must_be_none(self, lost: list[Life], returned: list[Life]) -> None:
        for life in lost:
            self.breaks(LOST, f"{life.body[:60]!r}, published in {life.dialect}")
        for life in returned:
            self.breaks(RESURRECTED, f"{life.body[:60]!r}, published in {life.dialect}: it was finished")

    def _find_holes(self, lost: list[Life], returned: list[Life], there: Set[bytes]) -> None:
        ends_s = [self._told_s.get(life, math.inf) for life in lost]
        ends_s += [self._finish_told_s.get(life, math.inf) for life in returned]
        end_s = min(ends_s, default=math.inf)
        for life, sent_s in self._sent_s.items():
            if life.body in there and sent_s > end_s:
                self.breaks(
                    HOLE, f"{life.body[:60]!r} is there, and was sent {sent_s - end_s:.4f} s after what is lost"
                )

    def _begin_anew(self, there: Set[bytes]) -> None:
        """What is there has to stay, what is not may never come."""
        for body in there - self.lives.keys():
            self.breaks(BODY, f"nobody published {body[:60]!r}, which is there")
        for life in self.lives.values():
            life.published, life.finish_sent, life.contested, life.finished = True, False, False, False
            life.gone_s, life.releases = math.inf, 0
            if self.stage != SURVIVES:  # who had it, how often and until when may be lost as well
                life.held_until_s = life.due_s = 0.0
                life.told_s.clear()
        self.lives = {body: life for body, life in self.lives.items() if body in there}
        if self.stage != SURVIVES:
            self.abroad.clear()
        self.takes.clear()
        self.cut_s = math.inf
        self._forget()

    def _forget(self) -> None:
        for noted in (
            self._sent_s,
            self._told_s,
            self._finish_sent_s,
            self._finish_told_s,
            self._release_sent_s,
        ):
            noted.clear()
