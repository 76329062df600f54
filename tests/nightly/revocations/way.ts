import { createConnection, createServer } from "node:net";
import { listenLocally } from "../../support/http/listen-locally.ts";
import { passOn } from "../../support/http/passage.ts";
import { type Proxy as NetworkProxy, startProxy } from "../../support/http/proxy.ts";

/** The delays of the two directions of a connection, in milliseconds. */
interface Delay {
  request: number;
  response: number;
}

/**
 * The way of one gateway to identity. It can be cut, and it can hold up validations and responses about changes, each
 * by itself.
 */
export interface Way {
  readonly url: string;
  readonly link: NetworkProxy;
  readonly delays: Readonly<Record<"validations" | "changes", Delay>>;
  close(): Promise<void>;
}

export async function openWay(target: string): Promise<Way> {
  const delays = { validations: { request: 0, response: 0 }, changes: { request: 0, response: 0 } };
  const { hostname, port } = new URL(target);
  const server = createServer((client) => {
    const identity = createConnection({ host: hostname, port: Number(port) });
    for (const socket of [client, identity]) socket.on("error", () => socket.destroy());
    // A gateway uses one connection only for validations, which are POST, or only for changes.
    let kind: keyof Way["delays"] = "changes";
    client.once("data", (bytes) => {
      if (bytes.toString().startsWith("POST")) kind = "validations";
    });
    passOn(client, identity, () => ({ passes: "everything", latencyMs: delays[kind].request }));
    passOn(identity, client, () => ({ passes: "everything", latencyMs: delays[kind].response }));
  });
  const link = await startProxy(`http://127.0.0.1:${await listenLocally(server)}`);
  return {
    url: link.url,
    link,
    delays,
    async close() {
      await link.close();
      server.close();
    },
  };
}
