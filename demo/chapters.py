"""The chapters, in their order. Each says what happens, lets it happen, and checks the numbers."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Final

from demo import orders, sums
from demo.actors.sleeper import Sleeper
from demo.orders import DEAD, DELAY_S, ORDERS, RECEIPTS, VOICES
from demo.stage import Stage

ACCEPTED: Final = ["ready", "write", "sync"]
LIFE: Final = re.compile(r"ready write sync( assign retry)* assign (finish|drop)")
STATES: Final = ("messages", "waiting", "leased", "finished", "dropped")
SENT: Final = orders.all_orders()
FIRST: Final = [order for order in SENT if order in orders.before(order.voice)]
WAITING: Final = ("delayed", "ready", "parked", "leased")
DROPPED: Final = f"queue = '{ORDERS}' and outcome = 'dropped'"
BY_DIALECT: Final = f"""
select dialect, count(*) as messages, sum(deliveries) as handed_out, sum(failures) as failures,
       round(avg(work_us) / 1e3, 1) as work_ms
from silver.lives where {DROPPED} group by dialect order by dialect
"""
THEN: Final = f"select queue, published, {', '.join(WAITING)}, finished from asof.queues where queue = '{ORDERS}'"
POISONED: Final = [order for order in SENT if order.kind == "poison"]


async def open_the_doors(stage: Stage) -> None:
    stage.story.step("A server on a fresh directory, with five listeners. An answer means: it survives a power cut.")
    await stage.premises.start()
    listeners = [(name, f"127.0.0.1:{port}") for name, port in stage.premises.ports.items()]
    stage.story.table(("listener", "address"), listeners)


async def publish_first(stage: Stage) -> None:
    story = stage.story
    story.step(f"Six producers put {len(FIRST)} orders into one queue, each in its own way. Nobody works on them yet.")
    for producer in stage.producers:
        await producer.connect()
    await asyncio.gather(*(producer.produce(orders.before(producer.voice)) for producer in stage.producers))
    kinds = {voice: [order.kind for order in orders.before(voice)] for voice in VOICES}
    story.table(("producer", *orders.BEFORE), [(voice, *map(kinds[voice].count, orders.BEFORE)) for voice in VOICES])
    await story.command(stage.premises.data, "queue", "list")
    story.check(f"all {len(FIRST)} are told as safe", sorted(stage.told) == sorted(FIRST))
    notices = stage.poster.notices.values()
    story.check(f"of each, glovebox was told {', '.join(ACCEPTED)}", all(told == ACCEPTED for told in notices))
    story.say("rsmq is npm's own client, unmodified; there is no Redis on this stage")
    stage.remember()


async def go_to_sleep(stage: Stage) -> None:
    stage.story.step("A worker of etzel's kind looks for receipts, finds none, and goes to sleep.")
    stage.sleeper = Sleeper(stage.premises.url("etzel"))
    await stage.story.wait("asleep", lambda: stage.sleeper.asleep)


async def work_until_the_kill(stage: Stage) -> None:
    story = stage.story
    story.step("A Python worker begins, and the producers go on. In the middle of it the server is killed: kill -9.")
    stage.hire()
    stage.begin_traffic()
    half = (len(SENT) + len(FIRST)) // 2
    await story.wait("half of the further orders are told as safe", lambda: len(stage.told) >= half)
    stage.premises.kill()
    story.say(f"dead, after {len(stage.told)} of {len(SENT)} orders were told, and {len(stage.worker.done)} were done")
    urgent = [order for order in SENT if order.kind == "urgent"]
    came = list(stage.worker.first_s)
    story.check(f"the {len(urgent)} urgent orders came first", set(came[: len(urgent)]) == set(urgent))
    story.check("the first receipt has woken the sleeper", stage.sleeper.wakes > 0)


async def read_the_journal(stage: Stage) -> None:
    story = stage.story
    story.step("The server is dead, but its journal can be read. What it holds, by producer:")
    told = set(stage.told)
    accounts = await stage.accounts()
    rows = accounts.by_voice().items()
    story.table(
        ("producer", "told", *STATES),
        [(voice, sums.of_voice(told, voice), *(row[state] for state in STATES)) for voice, row in rows],
    )
    story.check("every order that was told as safe is there", told <= accounts.orders())


async def come_back(stage: Stage) -> None:
    story = stage.story
    story.step("The server starts again on the same directory. Producers, worker and sleeper come back by themselves.")
    killed_at = max(stage.poster.notices)
    await stage.premises.start()
    await asyncio.gather(*stage.traffic)
    stage.traffic = [asyncio.create_task(stage.poster.listen())]
    again = ", ".join(order.body for order in stage.repeated) or "none"
    story.say(f"sent again, since nobody had answered: {again}")
    await story.wait("every order is finished, or was dropped after too many failures", stage.all_ended)
    early = [o for o in SENT if o.kind == "later" and stage.worker.first_s[o] < stage.asked_s[o] + DELAY_S]
    story.check(f"those for later came {DELAY_S} s later, and not before", not early)
    lives = stage.poster.lives_since(killed_at)
    whole = f"glovebox was told the whole life of the {len(lives)} orders it has posted since, in order"
    await story.wait(whole, lambda: all(LIFE.fullmatch(" ".join(notices)) for notices in lives))
    counted = stage.poster.counted()
    story.table(("notices", *counted), [("glovebox", *counted.values())])


async def look_at_the_dead_letters(stage: Stage) -> None:
    story, data = stage.story, stage.premises.data
    story.step("Poisoned orders were tried again and again, with growing pauses, then put aside. The life of one:")
    accounts = await stage.accounts()
    dropped = [life for life in accounts.lives if life.state == "dropped"]
    await story.command(data, "message", "show", accounts.id_of(next(o for o in POISONED if o.voice == "etzel")))
    story.check("the dropped are the poisoned", {life.order for life in dropped} == set(POISONED))
    story.check(f"each failed {orders.ATTEMPTS} times", all(life.failures == orders.ATTEMPTS for life in dropped))
    await story.command(data, "dead", "list", DEAD)
    story.check("each has its dead letter", stage.premises.count(DEAD, "ready") == len(dropped))


async def ask_the_tables(stage: Stage) -> None:
    story, data = stage.story, stage.premises.data
    story.step("Every fact has flowed on into the archive. Spark makes tables of it, and finds the dropped orders.")
    await story.wait("all that has happened is archived", stage.premises.all_archived)
    await story.command(data, "pipeline", "run")
    found = await story.command(data, "pipeline", "sql", "--output", "json", " ".join(BY_DIALECT.split()))
    rows = [json.loads(line) for line in found.splitlines()]
    story.check("they are as many as the poisoned", sum(row["messages"] for row in rows) == len(POISONED))


async def look_back(stage: Stage) -> None:
    story = stage.story
    story.step("And what did the queue hold before anybody worked? The tables know it of every moment.")
    moment, counts = stage.moment
    story.say(f"the server said then: {counts['published']} published, {sum(counts[p] for p in WAITING)} waiting")
    told = await story.command(stage.premises.data, "pipeline", "sql", "--at", moment, "--output", "json", THEN)
    then = json.loads(told)
    same = sum(then[place] for place in WAITING) == sum(counts[place] for place in WAITING)
    story.check("the tables say the same", then["published"] == counts["published"] and same)


async def replay(stage: Stage) -> None:
    story, data = stage.story, stage.premises.data
    story.step("The worker is stopped, a mended one begins, and the dropped orders are replayed from history.")
    await stage.worker.stop()
    stage.hire(mended=True)
    asked = ("pipeline", "replay", "--where", DROPPED, "--to", ORDERS, "--rate", "50/s", "--yes")
    await story.command(data, *asked)
    await story.wait("they are finished", stage.all_ended)
    story.say("Once more, as if somebody had not been sure:")
    again = json.loads(await story.command(data, *asked, "--output", "json", quiet=True))
    story.check(f"published {again['published']}, there before {again['before']}", again["published"] == 0)
    await story.command(data, "dead", "purge", DEAD, "--yes")


async def count_receipts(stage: Stage) -> None:
    story, sleeper = stage.story, stage.sleeper
    story.step("The sleeper counts its receipts.")
    bodies = {order.body for order in SENT}
    await story.wait("it has one for every order", lambda: sleeper.receipts == bodies)
    await story.wait("it is asleep again", lambda: sleeper.asleep)
    slept = f"its {sleeper.sleeps} sleeps = {sleeper.wakes} wake-ups + {sleeper.cut} cut short by the kill + this one"
    story.check(slept, sleeper.adds_up())
    await story.command(stage.premises.data, "queue", "list")
    receipts = {stage.premises.count(RECEIPTS, what) for what in ("published", "finished")}
    story.check("one receipt for each order, however often it was worked on", receipts == {len(SENT)})


async def report(stage: Stage) -> None:
    story, data = stage.story, stage.premises.data
    story.step("The tables take in the rest, are compared with the server's own counts, and become a page.")
    await story.wait("all that has happened is archived", stage.premises.all_archived)
    counters = await stage.keep_counters()
    await story.command(data, "pipeline", "run", "--counters", str(counters))
    await story.command(data, "pipeline", "report", "-o", str(stage.report))
    story.check(f"{stage.report} is there, to be looked at", stage.report.stat().st_size > 0)


async def stop(stage: Stage) -> None:
    stage.story.step("A clean stop. Then the journal is checked, byte by byte.")
    await stage.send_home()
    stage.story.check("the server stopped with exit code 0", await stage.premises.stop() == 0)
    await stage.story.command(stage.premises.data, "journal", "verify")


async def add_up(stage: Stage) -> None:
    stage.story.step("What became of every order, by the journal:")
    accounts = await stage.accounts()
    stage.story.table(sums.COLUMNS, sums.rows(accounts, stage.repeated))
    for what, holds in sums.checks(accounts, stage.told, stage.repeated):
        stage.story.check(what, holds)


CHAPTERS: Final = (
    open_the_doors,
    publish_first,
    go_to_sleep,
    work_until_the_kill,
    read_the_journal,
    come_back,
    look_at_the_dead_letters,
    ask_the_tables,
    look_back,
    replay,
    count_receipts,
    report,
    stop,
    add_up,
)
