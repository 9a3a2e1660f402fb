// npm's `rsmq` with `realtime`, and a subscriber: each line printed is what the subscriber heard.
"use strict";
const RedisSMQ = require("rsmq");
const redis = require("redis");

const [port, qname] = process.argv.slice(2);
const listener = redis.createClient({ host: "127.0.0.1", port: Number(port) });
const rsmq = new RedisSMQ({ host: "127.0.0.1", port: Number(port), realtime: true });
let heard = 0;

listener.on("message", async (channel, count) => {
  console.log(JSON.stringify({ channel, count }));
  if (++heard < 3) return;
  listener.unsubscribe();
  listener.quit();
  await rsmq.quitAsync();
});
listener.on("subscribe", async () => {
  await rsmq.createQueueAsync({ qname });
  for (const message of ["one", "two", "three"]) await rsmq.sendMessageAsync({ qname, message });
});
listener.subscribe(`rsmq:rt:${qname}`);
