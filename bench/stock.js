// Stock RSMQ at work: so many lanes over one client send, receive and delete for so many seconds; the rate as JSON.
"use strict";
const RedisSMQ = require("rsmq");

const [port, lanes, seconds] = process.argv.slice(2).map(Number);
const rsmq = new RedisSMQ({ host: "127.0.0.1", port });
const qname = "bench";
const message = "x".repeat(256);
let operations = 0;

async function lane(until) {
  while (Date.now() < until) {
    await rsmq.sendMessageAsync({ qname, message });
    const { id } = await rsmq.receiveMessageAsync({ qname, vt: 600 });
    await rsmq.deleteMessageAsync({ qname, id });
    operations += 3;
  }
}

async function all(length) {
  operations = 0;
  const begun = Date.now();
  await Promise.all(Array.from({ length: lanes }, () => lane(begun + 1000 * length)));
  return (1000 * operations) / (Date.now() - begun);
}

async function main() {
  await rsmq.createQueueAsync({ qname });
  await all(seconds * 0.3); // warm
  console.log(JSON.stringify({ rate: await all(seconds) }));
  process.exit(0);
}

main();
