// The server's WebSocket seen by somebody else's: both ways in, pings, pieces, sizes, close codes, and no compression.
"use strict";
const assert = require("node:assert/strict");
const http = require("node:http");
const { once } = require("node:events");
const WebSocket = require("ws");

const port = process.argv[2];

async function opened(path = "/connect", options = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, options);
  await once(socket, "open");
  return socket;
}

async function asked(socket, request) {
  socket.send(typeof request === "string" ? request : JSON.stringify(request));
  const [data, isBinary] = await once(socket, "message");
  assert.equal(isBinary, false);
  return JSON.parse(data);
}

const checks = {
  async "both ways in, and no extension whatever is offered"() {
    for (const path of ["/connect", "/connect/", "/connect?token=x"]) {
      const socket = await opened(path, { perMessageDeflate: true });
      assert.equal(socket.extensions, "");
      assert.deepEqual(await asked(socket, { cmd: "SUB", qname: path }), { cmd: "oksub", qname: path });
      socket.terminate();
    }
  },

  async "any other path is not found, and a plain request is told to upgrade"() {
    for (const [path, status] of [["/", 200], ["/connect", 426], ["/elsewhere", 404]]) {
      const [response] = await once(http.get({ port, path, host: "127.0.0.1" }), "response");
      assert.equal(response.statusCode, status);
      response.resume();
    }
    const refused = new WebSocket(`ws://127.0.0.1:${port}/elsewhere`);
    const [error] = await once(refused, "error");
    assert.match(error.message, /404/);
  },

  async "a ping is answered with its own words"() {
    const socket = await opened();
    socket.ping("are you there?");
    const [words] = await once(socket, "pong");
    assert.equal(words.toString(), "are you there?");
    socket.terminate();
  },

  async "a message may come in pieces, with a ping between them"() {
    const socket = await opened();
    socket.send('{"cmd":"PUB","qname":"pie', { fin: false });
    socket.ping();
    socket.send('ces","msg":"whole"}', { fin: true });
    const [data] = await once(socket, "message");
    assert.deepEqual(JSON.parse(data), { cmd: "ok" });
    assert.equal((await asked(socket, { cmd: "FET", qname: "pieces" })).msg, "whole");
    socket.terminate();
  },

  async "bodies of every size come back as they went"() {
    const socket = await opened();
    for (const size of [0, 1, 125, 126, 65_535, 65_536, 1_048_576]) {
      const msg = "ü".repeat(size >> 1) + "x".repeat(size & 1);
      assert.deepEqual(await asked(socket, { cmd: "PUB", qname: "sizes", msg }), { cmd: "ok" });
      const found = await asked(socket, { cmd: "FET", qname: "sizes" });
      assert.equal(found.msg, msg);
      assert.deepEqual(await asked(socket, { cmd: "ACK", qname: "sizes", uid: found.uid }), {
        cmd: "okack",
        uid: found.uid,
        qname: "sizes",
      });
    }
    socket.terminate();
  },

  async "bytes go as an array of numbers, and come back as one"() {
    const socket = await opened();
    const msg = [...Buffer.from([0, 159, 146, 150])];
    await asked(socket, { cmd: "PUB", qname: "bytes", msg });
    assert.deepEqual((await asked(socket, { cmd: "FET", qname: "bytes" })).msg, msg);
    socket.terminate();
  },

  async "what is no request is refused, and the connection lives on"() {
    const socket = await opened();
    const refused = { cmd: "nok", err: "BAD_REQUEST" };
    for (const request of ["", "nonsense", "[]", '{"cmd":"PUB","qname":"q","msg":"\\ud800"}', '{"cmd":"nop"}']) {
      assert.deepEqual(await asked(socket, request), refused);
    }
    socket.send(Buffer.from('{"cmd":"SUB","qname":"q"}'), { binary: true });
    assert.deepEqual(JSON.parse((await once(socket, "message"))[0]), refused);
    assert.deepEqual(await asked(socket, { cmd: "SUB", qname: "q" }), { cmd: "oksub", qname: "q" });
    socket.terminate();
  },

  async "goodbye is answered with its own code"() {
    for (const code of [1000, 1001, 3000, 4999]) {
      const socket = await opened();
      socket.close(code, "enough");
      assert.equal((await once(socket, "close"))[0], code);
    }
  },

  async "a message that is too large ends the connection with 1009"() {
    const socket = await opened();
    socket.on("error", () => {});
    socket.send("x".repeat(9_000_000));
    assert.equal((await once(socket, "close"))[0], 1009);
  },
};

(async () => {
  for (const [name, check] of Object.entries(checks)) {
    await check();
    console.log(name);
  }
})();
