// What the page of the dialect promises, seen from JavaScript. Each line printed is one promise kept.
"use strict";
const { Client, assert } = require("./client.js");

const url = process.argv[2];
const queue = "from javascript";
const ALL = ["ready", "write", "sync", "assign", "finish", "retry", "drop"];

async function main() {
  const poster = await Client.open(url);
  const worker = await Client.open(url);
  assert.deepStrictEqual(await poster.ask("create", { queue, label: 1, retries: 2 }), notice(1, "ready"));
  assert.deepStrictEqual(await poster.ask("create", { queue, label: 2 }), error(2, "ObjectAlreadyExists", queue));
  console.log("a queue is made once");

  poster.send("post", { queue, message: "ü€😀", label: 3, notify: ALL });
  for (const stage of ["ready", "write", "sync"]) assert.deepStrictEqual(await poster.next(), notice(3, stage));
  const given = await worker.ask("fetch", { queue, work_timeout: 30, label: 4 });
  assert.strictEqual(given.body, "ü€😀");
  assert(Number.isSafeInteger(given.shard) && Number.isSafeInteger(given.sequence));
  assert.deepStrictEqual(await poster.next(), notice(3, "assign"));
  const { shard, sequence } = given;
  assert.deepStrictEqual(await worker.ask("finish", { queue, shard, sequence, label: 5 }), notice(5, "finish"));
  assert.deepStrictEqual(await poster.next(), notice(3, "finish"));
  console.log("a message is fetched and finished, and its poster hears of it");

  poster.send("post", { queue, message: [0, 255], label: 6, notify: ["retry", "drop"] });
  for (const turn of ["retry", "drop"]) {
    const held = await worker.ask("fetch", { queue, work_timeout: 0.05, block_timeout: 5, label: 7 });
    assert.deepStrictEqual(held.body, [0, 255]);
    assert.deepStrictEqual(await poster.next(), notice(6, turn));
  }
  console.log("one that is not finished is retried, and dropped in the end");

  worker.send("pop", { queue, timeout: 30, label: 8 });
  await worker.ask("pop", { queue: "not there", label: 9 });
  assert.deepStrictEqual(await poster.ask("post", { queue, message: "x", label: 10, notify: ["ready"] }), notice(10, "finish"));
  assert.strictEqual((await worker.next()).finished, true);
  console.log("a pop that waits is served at once");

  const began = Date.now();
  assert.deepStrictEqual(await worker.ask("pop", { queue, timeout: 0.2, label: 11 }), { type: "nomessage", label: 11 });
  assert(Date.now() - began >= 199);
  console.log("a wait is over on time");

  for (let label = 0; label < 1000; label++) poster.send("post", { queue, message: `${label}`, label, notify: ["write"] });
  for (let label = 0; label < 1000; label++) assert.strictEqual((await poster.next()).label, label);
  for (let label = 0; label < 1000; label++) worker.send("pop", { queue, label });
  for (let label = 0; label < 1000; label++) assert.strictEqual((await worker.next()).body, `${label}`);
  console.log("a thousand at once come through in order");

  await worker.close(3000);
  await poster.close();
}

const notice = (label, notice) => ({ type: "notice", label, notice });
const error = (label, code, key) => ({ type: "error", label, code, key });

main();
