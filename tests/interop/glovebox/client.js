// A client of `glovebox` on npm's `ws`: requests as objects, and what is heard, awaited one by one.
"use strict";
const assert = require("node:assert");
const WebSocket = require("ws");

class Client {
  constructor(url, headers = {}) {
    this.heard = [];
    this.waiting = [];
    this.socket = new WebSocket(url, { headers });
    this.socket.on("message", (data, binary) => this.hear(binary ? data : JSON.parse(data)));
    this.closed = new Promise((resolve) => this.socket.on("close", resolve));
  }

  hear(said) {
    const waiting = this.waiting.shift();
    if (waiting) waiting(said);
    else this.heard.push(said);
  }

  next() {
    return this.heard.length ? Promise.resolve(this.heard.shift()) : new Promise((resolve) => this.waiting.push(resolve));
  }

  send(type, members = {}) {
    this.socket.send(JSON.stringify({ type, ...members }));
  }

  async ask(type, members) {
    this.send(type, members);
    return this.next();
  }

  static async open(url, headers) {
    const client = new Client(url, headers);
    const hello = await client.next();
    client.id = Buffer.isBuffer(hello) ? Number(hello.readBigUInt64LE(8)) : hello.id;
    assert(Number.isSafeInteger(client.id) && client.id > 0);
    return client;
  }

  async close(code = 1000) {
    this.socket.close(code);
    assert.strictEqual(await this.closed, code);
  }
}

module.exports = { Client, assert };
