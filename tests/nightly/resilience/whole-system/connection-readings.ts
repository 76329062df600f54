/** Readings of the number of connections of every process, and the growth that they show. */

import { type Connections, connectionsOf, everyConnection } from "../../../support/http/connections.ts";
import { get } from "../../faults/load/requests.ts";
import { connectionGrowthOf, FETCH_MAX, POOLS, type PoolMaxima } from "../../faults/soak/flatness.ts";
import type { Callers } from "../../faults/system/people.ts";
import type { System } from "../../faults/system/system.ts";

/**
 * The number of readings. They take 20 s, in which a gateway renews its lease eight times. If each renewal
 * left a connection open, the readings would show it.
 */
const READINGS = 20;
const READING_EVERY_MS = 1_000;
/** The number of clients that {@link leavingClients} lets abort their connections. */
const LEAVING = 3;

/** The readings of each process, by its name. */
export type Seen = ReadonlyMap<string, readonly Connections[]>;

/** Reads the number of connections of every process repeatedly, and runs `between` after each reading. */
export async function readConnections(system: System, between: () => Promise<unknown>): Promise<Seen> {
  const seen = new Map<string, Connections[]>(system.replicas().map(({ name }) => [name, []]));
  for (let count = 0; count < READINGS; count++) {
    const every = everyConnection();
    for (const { name, server } of system.replicas()) {
      if (server.pid !== undefined) seen.get(name)?.push(connectionsOf(server.pid, system.peers, every));
    }
    await Promise.all([Bun.sleep(READING_EVERY_MS), between()]);
  }
  return seen;
}

/** Lets clients open an event stream and a WebSocket each, and abort both. */
export function leavingClients(system: System, callers: Callers): Promise<unknown> {
  return Promise.all(Array.from({ length: LEAVING }, () => leave(system, callers)));
}

async function leave(system: System, callers: Callers): Promise<void> {
  const { url } = await system.nextGateway();
  const [key] = callers.keys;
  if (key === undefined) throw new Error("There are no callers.");
  const { headers } = key;
  const stop = new AbortController();
  const events = await fetch(url + get("stream", "/things/events", key).path, {
    headers,
    signal: stop.signal,
  });
  await events.body?.getReader().read();
  stop.abort();
  const socket = new WebSocket(url.replace("http", "ws") + get("socket", "/things/socket", key).path, {
    headers,
  });
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  socket.terminate();
}

/** Describes each number of connections that has grown. `poolsOf` returns the pools of a process. */
export function grown(seen: Seen, poolsOf: (process: string) => PoolMaxima): string[] {
  return [...seen].flatMap(([name, connections]) =>
    connectionGrowthOf(connections, poolsOf(name))
      .filter(({ isFlat }) => !isFlat)
      .map(({ title, first, last }) => `${name}: connections with ${title} ${first} → ${last}`),
  );
}

/**
 * Returns the pools under load. The gateway opens a connection for each call to audit or identity that is in flight at
 * the same time. It keeps idle connections for 55 s.
 */
export function poolsUnderLoad(process: string): PoolMaxima {
  if (!process.startsWith("gateway")) return POOLS;
  return new Map([...POOLS, ["audit", FETCH_MAX], ["identity", FETCH_MAX]]);
}

/** Returns the highest number of connections with a peer that any process had in any reading. */
export function most(seen: Seen, peer: string): number {
  return Math.max(...[...seen.values()].flat().map((connections) => connections[peer] ?? 0));
}
