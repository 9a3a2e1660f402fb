// A worker and a publisher in the dialect `etzel`. Beside a running server: npm install ws && node examples/etzel.js
"use strict";
const WebSocket = require("ws");

const url = process.argv[2] ?? "ws://127.0.0.1:8080/connect";
const worker = new WebSocket(url);
const send = (socket, cmd, members) => socket.send(JSON.stringify({ cmd, qname: "greetings", ...members }));

// What the worker does about what it hears.
const reactions = {
  nomsg: () => send(worker, "ISLP"),
  okslp: () => publish("hello"),
  awk: () => send(worker, "FET"),
  msg: ({ uid, msg }) => {
    console.log(`working on ${msg}`);
    send(worker, "ACK", { uid });
  },
  okack: () => worker.close(),
};

worker.on("open", () => {
  send(worker, "SUB");
  send(worker, "FET");
});
worker.on("message", (data) => {
  const said = JSON.parse(data);
  console.log(said.cmd);
  reactions[said.cmd]?.(said);
});

function publish(msg) {
  const publisher = new WebSocket(url);
  publisher.on("open", () => send(publisher, "PUB", { msg, timeout: 30 }));
  publisher.on("message", () => publisher.close());
}
