// npm's `rsmq-worker`: works off what it sends itself, fails once, gives up once. Each line printed is one event.
"use strict";
const RSMQWorker = require("rsmq-worker");

const [port, qname] = process.argv.slice(2);
const settings = { interval: [0.02, 0.05], invisibletime: 1, maxReceiveCount: 2, defaultDelay: 0, timeout: 0 };
const worker = new RSMQWorker(qname, { host: "127.0.0.1", port: Number(port), redisPrefix: "rsmq", ...settings });
const tell = (event, body) => console.log(JSON.stringify({ event, body }));
const bodies = {};

worker.on("data", ({ id, message }) => (bodies[id] = message));
worker.on("message", (message, next) => {
  tell("message", message);
  next(message !== "poison"); // false: it is not deleted, and comes back
});
worker.on("deleted", (id) => tell("deleted", bodies[id]));
worker.on("exceeded", ({ message }) => {
  tell("exceeded", message);
  setTimeout(() => worker.size((error, size) => (tell("size", error ?? size), worker.quit())), 100);
});
worker.on("error", (error) => tell("error", `${error}`));
worker.on("ready", () => {
  worker.send("good", 0, () => worker.send("poison", 0, () => worker.start()));
});
