// A worker that does what etzel's own client does: SUB and FET at open, ISLP on nomsg, FET on awk, FET right after msg.
// Every message is acknowledged unless told otherwise. What is heard is printed, one line each.
"use strict";
const WebSocket = require("ws");

const [url, qname, acknowledge = "yes"] = process.argv.slice(2);
const socket = new WebSocket(url);
const send = (cmd, members) => socket.send(JSON.stringify({ cmd, qname, ...members }));

const reactions = {
  msg(said) {
    if (acknowledge === "yes") send("ACK", { uid: said.uid });
    send("FET");
  },
  nomsg: () => send("ISLP"),
  awk: () => send("FET"),
};

socket.on("open", () => {
  send("SUB");
  send("FET");
});
socket.on("message", (data) => {
  const said = JSON.parse(data);
  console.log(JSON.stringify(said));
  reactions[said.cmd]?.(said);
});
socket.on("close", (code) => {
  console.log(JSON.stringify({ cmd: "closed", code }));
});
