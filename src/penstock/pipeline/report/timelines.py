"""The slowest messages, each with a picture of its life: when it waited, when it was worked on, how each try ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from penstock.pipeline.report.numbers import Attempt, Report, Slow
from penstock.pipeline.report.tables import empty, section
from penstock.pipeline.report.words import count, duration, moment, text

_WIDE: Final = 1_000
_HIGH: Final = 10
_THIN: Final = 3  # what would be thinner is drawn so wide: nothing that happened is invisible

_KEY: Final = (
    '<p class="key"><i class="waiting"></i>waiting <i class="worked"></i>worked on, and finished '
    '<i class="retried"></i>worked on, and came back <i class="dropped"></i>dropped or expired</p>'
)


def timelines(report: Report) -> str:
    about = "from publish to end, the longest first, a few of each queue"
    if not report.slowest:
        return section("Slowest messages", about, empty("No message ended."))
    lives = "".join(f"<li>{_life(slow)}</li>" for slow in report.slowest)
    return section("Slowest messages", about, f'{_KEY}<ol class="lives">{lives}</ol>')


def _life(slow: Slow) -> str:
    tries = len(slow.attempts)
    about = f"{count(tries)} {'delivery' if tries == 1 else 'deliveries'}"
    head = (
        f'<div class="life"><strong>{duration(slow.life_us)}</strong> <span class="name">{text(slow.queue)}</span> '
        f'<code>{slow.message}</code> <span class="{_tone(slow.outcome)}">{text(slow.outcome)}</span> '
        f"<small>{about}, published {moment(slow.published_us)} by {text(slow.dialect)}</small></div>"
    )
    shapes = "".join(_shapes(slow))
    drawn = (
        f'<svg class="timeline" viewBox="0 0 {_WIDE} {_HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="its life">{shapes}</svg>'
    )
    return head + drawn + _story(slow)


def _tone(outcome: str) -> str:
    return "good" if outcome == "finished" else "bad"


def _shapes(slow: Slow) -> Iterator[str]:
    """The whole life as waiting, and each delivery upon it."""
    yield f'<rect class="waiting" x="0" width="{_WIDE}" y="3" height="4"/>'
    for attempt in slow.attempts:
        ended_us = slow.ended_us if attempt.ended_us is None else attempt.ended_us
        at = _place(slow, attempt.leased_us)
        width = max(_place(slow, ended_us) - at, _THIN)
        words = f"{duration(ended_us - attempt.leased_us)}, {attempt.ended or 'not over'}"
        yield f'<rect class="{_kind(attempt)}" x="{min(at, _WIDE - _THIN):.1f}" width="{width:.1f}" height="{_HIGH}">'
        yield f"<title>{text(words)}</title></rect>"


def _place(slow: Slow, at_us: int) -> float:
    return _WIDE * (at_us - slow.published_us) / max(slow.life_us, 1)


def _kind(attempt: Attempt) -> str:
    if attempt.ended == "finished":
        return "worked"
    return "retried" if attempt.ended in ("released", "") else "dropped"


_STORY_MOST: Final = 6


def _story(slow: Slow) -> str:
    """Each delivery in words; of many, the first and the last."""
    steps = [_step(slow, number, attempt) for number, attempt in enumerate(slow.attempts, 1)]
    if len(steps) > _STORY_MOST:
        between = len(steps) - _STORY_MOST + 1
        steps = [*steps[: _STORY_MOST - 2], f"<li>… {count(between)} more deliveries …</li>", steps[-1]]
    return f"<details><summary>its deliveries</summary><ul>{''.join(steps)}</ul></details>" if steps else ""


def _step(slow: Slow, number: int, attempt: Attempt) -> str:
    waited = duration(max(attempt.leased_us - attempt.ready_us, 0))
    holder = f", client {attempt.holder}" if attempt.holder else ""
    worked = "not over" if attempt.ended_us is None else f"after {duration(attempt.ended_us - attempt.leased_us)}"
    reason = f" ({attempt.reason})" if attempt.reason else ""
    ended = f"{attempt.ended}{reason} {worked}" if attempt.ended else worked
    after = duration(attempt.leased_us - slow.published_us)
    return f"<li>{number}. after {after}, having waited {waited}: {text(attempt.dialect + holder)}; {text(ended)}</li>"
