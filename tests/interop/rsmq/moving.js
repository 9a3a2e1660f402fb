// npm's `rsmq` before a move, `fill`, and after it, `go-on`: prints what it knows of the queue, as JSON.
"use strict";
const RedisSMQ = require("rsmq");

const [port, qname, part] = process.argv.slice(2);
const rsmq = new RedisSMQ({ host: "127.0.0.1", port: Number(port) });

const parts = {
  async fill() {
    await rsmq.createQueueAsync({ qname, vt: 50, maxsize: 4096 });
    const ids = {};
    for (const message of ["returned", "held", "late", "next", "done"]) {
      ids[message] = await rsmq.sendMessageAsync({ qname, message, delay: message === "late" ? 600 : 0 });
    }
    await rsmq.deleteMessageAsync({ qname, id: ids.done });
    const returned = await rsmq.receiveMessageAsync({ qname });
    await rsmq.receiveMessageAsync({ qname, vt: 600 });
    await rsmq.changeMessageVisibilityAsync({ qname, id: returned.id, vt: 0 });
    return { ids, fr: returned.fr, attributes: await rsmq.getQueueAttributesAsync({ qname }) };
  },
  async "go-on"() {
    const attributes = await rsmq.getQueueAttributesAsync({ qname });
    const next = await rsmq.popMessageAsync({ qname });
    const returned = await rsmq.receiveMessageAsync({ qname });
    const none = await rsmq.receiveMessageAsync({ qname });
    return { attributes, next, returned, none };
  },
  async end() {
    const { id } = JSON.parse(process.argv[5]);
    return { deleted: await rsmq.deleteMessageAsync({ qname, id }), again: await rsmq.deleteMessageAsync({ qname, id }) };
  },
};

parts[part]().then((found) => {
  console.log(JSON.stringify(found));
  return rsmq.quitAsync();
});
