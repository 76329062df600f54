import type { BinaryTestServer } from "../support/binary-server.ts";
import type { Proxy as NetworkProxy } from "../support/proxy.ts";
import { waitFor } from "../support/wait-for.ts";
import type { Cell, Part } from "./cells.ts";
import { BROKEN_REPLICA } from "./record.ts";
import { answerOf, type Replica } from "./system/replica.ts";
import type { System } from "./system/system.ts";

/** The delay of a slow line, each way: a question with its answer takes twice this time. */
const SLOWED_MS = 50;
const RETURN_MS = 60_000;

/** The processes and lines of a part. */
interface Breakable {
  readonly servers: readonly BinaryTestServer[];
  readonly links: readonly NetworkProxy[];
  /** Resolves once the part answers after its restart. */
  answers(): Promise<unknown>;
}

/** Injects a cell's fault. */
export async function breakParts(system: System, cell: Cell): Promise<void> {
  await eachPart(system, cell, async ({ servers, links }) => {
    switch (cell.fault) {
      case "killed":
        return inTurn(servers, (server) => server.kill());
      case "frozen":
        return inTurn(servers, (server) => server.freeze());
      case "cut":
        return links.forEach((link) => void link.cut());
      case "black-holed":
        return links.forEach((link) => void link.swallow());
      case "slowed":
        return links.forEach((link) => void link.slow(SLOWED_MS));
      case "gone-silent":
        return links.forEach((link) => void link.forget());
    }
  });
}

/** Repairs the parts, and resolves when they answer again. */
export async function mendParts(system: System, cell: Cell): Promise<void> {
  await eachPart(system, cell, async (part) => {
    if (cell.fault === "killed") await inTurn(part.servers, (server) => server.start());
    else if (cell.fault === "frozen") await inTurn(part.servers, (server) => server.thaw());
    else for (const link of part.links) link.heal();
    await part.answers();
  });
}

async function eachPart(system: System, cell: Cell, work: (part: Breakable) => Promise<unknown>) {
  await Promise.all(cell.parts.map((part) => work(breakable(system, part))));
}

function inTurn(servers: readonly BinaryTestServer[], work: (server: BinaryTestServer) => Promise<void>) {
  return Promise.all(servers.map(work));
}

function breakable(system: System, part: Part): Breakable {
  const one = (replicas: readonly Replica[]) => replicas.slice(BROKEN_REPLICA, BROKEN_REPLICA + 1);
  switch (part) {
    case "postgres":
    case "redis":
    case "etcd":
    case "upstream": {
      const { server, link } = system[part];
      return { servers: [server], links: [link], answers: async () => {} };
    }
    case "gateway":
      return ofReplicas(one(system.gateways));
    case "registry":
      return ofReplicas(one(system.registries));
    case "identity":
    case "audit":
    case "registries":
      return ofReplicas(system[part]);
  }
}

function ofReplicas(replicas: readonly Replica[]): Breakable {
  const isAlive = async ({ internal_url }: Replica) =>
    (await answerOf(`${internal_url}/health/live`)) === 200;
  return {
    servers: replicas.map(({ server }) => server),
    links: replicas.flatMap(({ links }) => [links.public, links.internal]),
    answers: () =>
      Promise.all(
        replicas.map((replica) =>
          waitFor(() => isAlive(replica), { timeout_ms: RETURN_MS, what: replica.name }),
        ),
      ),
  };
}
