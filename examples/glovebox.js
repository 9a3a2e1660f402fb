// A poster and a worker in the dialect `glovebox`. Beside a running server: npm install ws && node examples/glovebox.js
"use strict";
const WebSocket = require("ws");

const url = process.argv[2] ?? "ws://127.0.0.1:8081/connect";
const queue = "greetings";

// `reactions` says what to do about what is heard, by its type.
function connect(name, reactions) {
  const socket = new WebSocket(url);
  const send = (type, members) => socket.send(JSON.stringify({ type, queue, ...members }));
  socket.on("message", (data) => {
    const said = JSON.parse(data);
    console.log(`${name}: ${said.notice ?? said.type}`);
    reactions[said.type]?.(said, send, socket);
  });
}

const post = (send) => send("post", { message: "hello", label: 2, notify: ["write", "assign", "finish"] });
connect("poster", {
  hello: (_, send) => send("create", { label: 1 }),
  error: (_, send) => post(send), // the queue was there
  notice({ label, notice }, send, socket) {
    if (label === 1) post(send);
    if (notice === "write") work();
    if (notice === "finish") socket.close();
  },
});

function work() {
  connect("worker", {
    hello: (_, send) => send("fetch", { label: 1, work_timeout: 30, block_timeout: 5 }),
    message({ shard, sequence, body }, send) {
      console.log(`worker: working on ${body}`);
      send("finish", { shard, sequence, label: 2, response: "write" });
    },
    notice: (_, send, socket) => socket.close(),
  });
}
