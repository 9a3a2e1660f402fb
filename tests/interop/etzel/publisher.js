// Publishes messages, as many as it is told, one after the other or all at once, and exits when all are answered.
"use strict";
const WebSocket = require("ws");

const [url, qname, count, pace, timeout] = process.argv.slice(2);
const socket = new WebSocket(url);
let sent = 0;
let answered = 0;

const publish = () => {
  const msg = `message ${sent++} ü€😀`;
  socket.send(JSON.stringify({ cmd: "PUB", qname, msg, delay: "0", expires: "0", timeout }));
};

socket.on("open", () => {
  for (let at = 0; at < (pace === "burst" ? Number(count) : 1); at++) publish();
});
socket.on("message", (data) => {
  if (JSON.parse(data).cmd !== "ok") throw new Error(`heard ${data}`);
  answered++;
  if (answered === Number(count)) socket.close(1000);
  else if (pace !== "burst") publish();
});
