// bincode as a client of another language would write it; and a durable session that comes back.
"use strict";
const { Client, assert } = require("./client.js");

const url = process.argv[2];
const queue = "abc";

const hex = (text) => Buffer.from(text.replaceAll(" ", ""), "hex");
const ABC = "0300000000000000 616263";

async function main() {
  const client = await Client.open(url, { Binary: "true", "DURABLE-SESSION": "1" });
  const ask = async (request) => {
    client.socket.send(hex(request));
    return client.next();
  };
  assert.deepStrictEqual(
    await ask(`00000000 04000000 ${ABC} 0100000000000000 01 03000000 00 00`),
    hex("00000000 01000000 0100000000000000 00000000"),
  );
  assert.deepStrictEqual(
    await ask(`00000000 00000000 ${ABC} 0200000000000000 6869 feff 0500000000000000 0200000000000000 00000000 04000000`),
    hex("00000000 01000000 0500000000000000 00000000"),
  );
  console.log("made and posted");

  await client.close();
  const worker = await Client.open(url);
  const given = await worker.ask("pop", { queue, label: 1 });
  assert.strictEqual(given.body, "hi");
  const again = await Client.open(url, { Binary: "1", "RECONNECT-AS": `${client.id}` });
  assert.strictEqual(again.id, client.id);
  assert.deepStrictEqual(await again.next(), hex("00000000 01000000 0500000000000000 04000000"));
  console.log("told what happened while it was gone");

  again.socket.send(hex(`00000000 03000000 ${ABC} 00000000 00 0700000000000000`));
  assert.deepStrictEqual(await again.next(), hex("00000000 03000000 0700000000000000"));
  again.socket.send(hex("00"));
  assert.strictEqual((await again.next()).subarray(28).toString(), "bad request");
  const other = await Client.open(url, { "RECONNECT-AS": `${client.id}` });
  assert.notStrictEqual(other.id, client.id);
  console.log("nothing is left, nonsense is answered, and a name has one bearer");
  for (const one of [worker, again, other]) await one.close();
}

main();
