// Every call that npm's `rsmq` documents. Each line printed is one promise kept.
"use strict";
const assert = require("node:assert");
const RedisSMQ = require("rsmq");

const [port, qname] = process.argv.slice(2);
const rsmq = new RedisSMQ({ host: "127.0.0.1", port: Number(port) });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const near = (ms) => Math.abs(Date.now() - ms) < 60_000;

async function main() {
  assert.strictEqual(await rsmq.createQueueAsync({ qname, vt: 40, delay: 0, maxsize: 2048 }), 1);
  await assert.rejects(rsmq.createQueueAsync({ qname }), { name: "queueExists" });
  assert((await rsmq.listQueuesAsync()).includes(qname));
  const fresh = await rsmq.getQueueAttributesAsync({ qname });
  const { created, modified, ...rest } = fresh;
  assert.deepStrictEqual(rest, { vt: 40, delay: 0, maxsize: 2048, totalrecv: 0, totalsent: 0, msgs: 0, hiddenmsgs: 0 });
  assert(near(created * 1000) && created === modified);
  console.log("a queue is made once, listed and described");

  assert.deepStrictEqual(await rsmq.receiveMessageAsync({ qname }), {});
  assert.deepStrictEqual(await rsmq.popMessageAsync({ qname }), {});
  console.log("an empty queue gives nothing");

  const ids = [];
  for (const message of ["ü€😀", "two", "three"]) ids.push(await rsmq.sendMessageAsync({ qname, message }));
  assert(ids.every((id) => /^[0-9a-z]{10}[A-Za-z0-9]{22}$/.test(id)));
  const one = await rsmq.receiveMessageAsync({ qname });
  assert.deepStrictEqual([one.id, one.message, one.rc], [ids[0], "ü€😀", 1]);
  assert(near(one.fr) && near(one.sent) && one.fr >= one.sent - 1);
  console.log("the oldest message is received, under the id it was sent with");

  await sleep(5); // times are in milliseconds: within the one in which the last was sent, the first would come before it
  assert.strictEqual(await rsmq.changeMessageVisibilityAsync({ qname, id: one.id, vt: 0 }), 1);
  await sleep(5);
  const popped = [await rsmq.popMessageAsync({ qname }), await rsmq.popMessageAsync({ qname })];
  assert.deepStrictEqual(popped.map((message) => [message.message, message.rc]), [["two", 1], ["three", 1]]);
  const again = await rsmq.receiveMessageAsync({ qname, vt: 60 });
  assert.deepStrictEqual([again.id, again.rc, again.fr], [one.id, 2, one.fr]);
  console.log("a message that is made visible comes back behind the others, and remembers its first receive");

  assert.strictEqual(await rsmq.deleteMessageAsync({ qname, id: one.id }), 1);
  assert.strictEqual(await rsmq.deleteMessageAsync({ qname, id: one.id }), 0);
  assert.strictEqual(await rsmq.changeMessageVisibilityAsync({ qname, id: one.id, vt: 5 }), 0);
  console.log("what is deleted is gone");

  const late = await rsmq.sendMessageAsync({ qname, message: "late", delay: 1 });
  assert.deepStrictEqual(await rsmq.receiveMessageAsync({ qname }), {});
  let found = {};
  for (const until = Date.now() + 30_000; !found.id && Date.now() < until; await sleep(20)) {
    found = await rsmq.receiveMessageAsync({ qname, vt: 100 });
  }
  assert(found.id === late && found.fr - found.sent >= 999);
  console.log("a delayed message is not early");

  const set = await rsmq.setQueueAttributesAsync({ qname, vt: 7, delay: 3, maxsize: -1 });
  const counts = { totalrecv: 5, totalsent: 4, msgs: 1, hiddenmsgs: 1 };
  assert.deepStrictEqual({ ...set, modified: 0 }, { vt: 7, delay: 3, maxsize: -1, ...counts, created, modified: 0 });
  assert(near(set.modified * 1000));
  await rsmq.sendMessageAsync({ qname, message: "x".repeat(70_000), delay: 0 });
  assert.strictEqual((await rsmq.popMessageAsync({ qname })).message.length, 70_000);
  await rsmq.setQueueAttributesAsync({ qname, maxsize: 1024 });
  await assert.rejects(rsmq.sendMessageAsync({ qname, message: "x".repeat(1025) }), { name: "messageTooLong" });
  console.log("attributes are set, and counted right");

  assert.strictEqual(await rsmq.deleteQueueAsync({ qname }), 1);
  await assert.rejects(rsmq.deleteQueueAsync({ qname }), { name: "queueNotFound" });
  await assert.rejects(rsmq.sendMessageAsync({ qname, message: "x" }), { name: "queueNotFound" });
  assert(!(await rsmq.listQueuesAsync()).includes(qname));
  console.log("a queue that is deleted is gone");

  await rsmq.createQueueAsync({ qname });
  const bodies = Array.from({ length: 500 }, (_, number) => `${number}`);
  await Promise.all(bodies.map((message) => rsmq.sendMessageAsync({ qname, message })));
  const got = await Promise.all(bodies.map(() => rsmq.popMessageAsync({ qname })));
  assert.deepStrictEqual(new Set(got.map((message) => message.message)), new Set(bodies));
  assert.strictEqual((await rsmq.getQueueAttributesAsync({ qname })).msgs, 0);
  console.log("five hundred at once come through, each once");

  await rsmq.quitAsync();
}

main();
