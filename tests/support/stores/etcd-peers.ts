import { createConnection, createServer, type Socket } from "node:net";
import { listenLocally } from "../http/listen-locally.ts";

/** The proxy through which the other nodes connect to one node of etcd. */
interface PeerDoor {
  readonly port: number;
  close(): void;
}

interface Passage {
  readonly from: string;
  readonly to: string;
  readonly sockets: readonly Socket[];
}

/**
 * Proxies that separate nodes of etcd from each other, while clients still reach every node. A connection's
 * target is named by its peer port. The source is named by its hexadecimal member id, which etcd sends with
 * each request.
 */
export class EtcdPeers {
  readonly #passages = new Set<Passage>();
  readonly #apart = new Set<string>();

  async open(listenPort: number): Promise<PeerDoor> {
    const to = String(listenPort);
    const server = createServer((caller) => {
      caller.on("error", () => caller.destroy());
      caller.once("data", (head) => this.#pass(caller, Buffer.from(head), to));
    });
    return { port: await listenLocally(server), close: () => server.close() };
  }

  /** Cuts all connections from a node and to it, and refuses new ones. */
  part(listenPort: number, member_id: string): void {
    this.#apart.add(String(listenPort)).add(member_id);
    for (const passage of this.#passages) {
      if (this.#isCut(passage)) for (const socket of passage.sockets) socket.destroy();
    }
  }

  join(): void {
    this.#apart.clear();
  }

  close(): void {
    for (const { sockets } of this.#passages) for (const socket of sockets) socket.destroy();
  }

  #pass(caller: Socket, head: Buffer, to: string): void {
    const from = /x-server-from: *([0-9a-f]+)/i.exec(head.toString("latin1"))?.[1] ?? "";
    const node = createConnection({ host: "127.0.0.1", port: Number(to) });
    const passage = { from, to, sockets: [caller, node] };
    this.#passages.add(passage);
    node.on("error", () => node.destroy());
    node.on("close", () => {
      caller.destroy();
      this.#passages.delete(passage);
    });
    caller.on("close", () => node.destroy());
    if (this.#isCut(passage)) {
      caller.destroy();
      return;
    }
    node.write(head);
    caller.pipe(node).pipe(caller);
  }

  #isCut({ from, to }: Passage): boolean {
    return this.#apart.has(from) || this.#apart.has(to);
  }
}
