import type { Proxy as NetworkProxy } from "../../support/http/proxy.ts";
import type { BinaryTestServer } from "../../support/stores/binary-server.ts";
import { waitFor } from "../../support/time/wait-for.ts";
import { BROKEN_REPLICA } from "./cell-run.ts";
import { type Cell, isOfClock, type Part } from "./cells.ts";
import type { SettableClock } from "./system/clock.ts";
import { type Replica, statusOf } from "./system/replica.ts";
import type { Linked, System } from "./system/system.ts";

/** The latency that a slow link adds in each direction. A round trip takes longer by twice this time. */
const SLOWED_MS = 50;
const RETURN_MS = 60_000;

/**
 * How far a clock fault moves a clock: by less than a day, because audit refuses events whose time differs
 * from its clock by a day.
 */
const CLOCK_MS = 3_600_000;

/** The processes, network links and clocks of a part, into which a fault is injected. */
interface Breakable {
  readonly servers: readonly BinaryTestServer[];
  readonly links: readonly NetworkProxy[];
  /** The clocks of the part that can be set; empty if a run injects no clock faults. */
  readonly clocks: readonly SettableClock[];
  /** Resolves when the part responds again after the fault. */
  responds(): Promise<unknown>;
}

export async function injectFault(system: System, cell: Cell): Promise<void> {
  await eachPart(system, cell, async ({ servers, links, clocks }) => {
    switch (cell.fault) {
      case "killed":
        return onAll(servers, (server) => server.kill());
      case "frozen":
        return onAll(servers, (server) => server.freeze());
      case "cut":
        return links.forEach((link) => void link.cut());
      case "black-holed":
        return links.forEach((link) => void link.swallow());
      case "slowed":
        return links.forEach((link) => void link.slow(SLOWED_MS));
      case "gone-silent":
        return links.forEach((link) => void link.forget());
      case "set-ahead":
        return setClocks(clocks, CLOCK_MS);
      case "set-back":
        return setClocks(clocks, -CLOCK_MS);
    }
  });
}

/** Ends the fault of a cell. Resolves when its parts respond again. */
export async function endFault(system: System, cell: Cell): Promise<void> {
  await eachPart(system, cell, async (part) => {
    if (cell.fault === "killed") await onAll(part.servers, (server) => server.start());
    else if (cell.fault === "frozen") await onAll(part.servers, (server) => server.thaw());
    else if (isOfClock(cell)) await setClocks(part.clocks, 0);
    else for (const link of part.links) link.heal();
    await part.responds();
  });
}

async function eachPart(system: System, cell: Cell, work: (part: Breakable) => Promise<unknown>) {
  await Promise.all(cell.parts.map((part) => work(breakable(system, part))));
}

function onAll(servers: readonly BinaryTestServer[], work: (server: BinaryTestServer) => Promise<void>) {
  return Promise.all(servers.map(work));
}

async function setClocks(clocks: readonly SettableClock[], offsetMs: number): Promise<void> {
  if (clocks.length === 0) throw new Error("The part has no clock that a fault can change.");
  await Promise.all(clocks.map((clock) => clock.set(offsetMs)));
}

function breakable(system: System, part: Part): Breakable {
  const one = (replicas: readonly Replica[]) => replicas.slice(BROKEN_REPLICA, BROKEN_REPLICA + 1);
  switch (part) {
    case "postgres":
      return ofServer(system.postgres, system.clocks.postgres);
    case "redis":
    case "etcd":
    case "upstream":
      return ofServer(system[part]);
    case "gateway":
      return ofReplicas(one(system.gateways));
    case "registry":
      return ofReplicas(one(system.registries));
    case "audit":
      return { ...ofReplicas(system.audit), clocks: settable(system.clocks.audit) };
    case "identity":
    case "registries":
      return ofReplicas(system[part]);
  }
}

function ofServer({ server, link }: Linked, clock?: SettableClock | null): Breakable {
  return { servers: [server], links: [link], clocks: settable(clock ?? null), responds: async () => {} };
}

function settable(clock: SettableClock | null): SettableClock[] {
  return clock === null ? [] : [clock];
}

function ofReplicas(replicas: readonly Replica[]): Breakable {
  const isAlive = async ({ internalUrl }: Replica) => (await statusOf(`${internalUrl}/health/live`)) === 200;
  return {
    servers: replicas.map(({ server }) => server),
    links: replicas.flatMap(({ links }) => [links.public, links.internal]),
    clocks: [],
    responds: () =>
      Promise.all(
        replicas.map((replica) =>
          waitFor(() => isAlive(replica), { timeoutMs: RETURN_MS, what: replica.name }),
        ),
      ),
  };
}
