// The stock RSMQ client as a producer: a line of JSON in (an order to send), a line of JSON out (its id, or the error).
"use strict";
const RedisSMQ = require("rsmq");

const rsmq = new RedisSMQ({ host: "127.0.0.1", port: Number(process.argv[2]) });
rsmq.on("error", () => {}); // it comes back by itself; whoever waits for an answer is told
const say = (line) => console.log(JSON.stringify(line));

async function send({ qname, message, delay }) {
  try {
    say({ id: await rsmq.sendMessageAsync({ qname, message, delay }) });
  } catch (error) {
    say({ error: String(error.message), refused: error.name !== "AbortError" && error.code === undefined });
  }
}

async function main() {
  const qname = process.argv[3];
  if (!(await rsmq.listQueuesAsync()).includes(qname)) await rsmq.createQueueAsync({ qname });
  say({ ready: true });
  for await (const line of require("readline").createInterface({ input: process.stdin })) await send(JSON.parse(line));
  process.exit(0);
}

main();
