// A producer and a worker in the dialect `rsmq`, with the stock client and no Redis.
// Beside a running server: npm install rsmq && node examples/rsmq.js
"use strict";
const RedisSMQ = require("rsmq");

const port = Number(process.argv[2] ?? 6380);
const rsmq = new RedisSMQ({ host: "127.0.0.1", port });
const qname = "parcels";

async function main() {
  if (!(await rsmq.listQueuesAsync()).includes(qname)) await rsmq.createQueueAsync({ qname, vt: 30 });

  await rsmq.sendMessageAsync({ qname, message: "hello" });
  console.log("sent hello");

  const { id, message, rc } = await rsmq.receiveMessageAsync({ qname });
  console.log(`working on ${message}, received ${rc} time${rc === 1 ? "" : "s"}`);

  await rsmq.deleteMessageAsync({ qname, id }); // else it is back after thirty seconds
  console.log("deleted");

  await rsmq.quitAsync();
}

main();
