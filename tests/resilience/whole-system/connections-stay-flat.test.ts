import { expect, setDefaultTimeout, test } from "bun:test";
import { Load } from "../../faults/load/load.ts";
import { get } from "../../faults/load/requests.ts";
import { newCallers } from "../../faults/run-cell.ts";
import { connectionGrowthOf } from "../../faults/soak/flatness.ts";
import type { Callers } from "../../faults/system/people.ts";
import { System } from "../../faults/system/system.ts";
import { CAN_COUNT_CONNECTIONS, type Connections, connectionsOf } from "../../support/connections.ts";
import { services, waitFor } from "../../support/index.ts";
import { leash } from "../../support/services.ts";

setDefaultTimeout(300_000);

/**
 * A gateway renews its lease every 2.5 s, so a connection left by each renewal would exceed the allowed
 * number.
 */
const LOOKS = 20;
const LOOK_EVERY_MS = 1_000;
/** Clients that leave an event stream and a WebSocket between two readings. */
const LEAVING = 3;
const WARM_REQUESTS = 500;

type Seen = ReadonlyMap<string, readonly Connections[]>;

/** Counts the connections of every process repeatedly, and runs `between` after each count. */
async function look(system: System, between: () => Promise<unknown>): Promise<Seen> {
  const seen = new Map<string, Connections[]>(system.replicas().map(({ name }) => [name, []]));
  for (let count = 0; count < LOOKS; count++) {
    for (const { name, server } of system.replicas()) {
      if (server.pid !== undefined) seen.get(name)?.push(connectionsOf(server.pid, system.peers));
    }
    await Promise.all([Bun.sleep(LOOK_EVERY_MS), between()]);
  }
  return seen;
}

/** Opens an event stream and a WebSocket, and breaks both off. */
async function leave(system: System, callers: Callers): Promise<void> {
  const { url } = system.nextGateway();
  const [key] = callers.keys;
  if (key === undefined) throw new Error("There is no caller to choose from.");
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

function grown(seen: Seen): string[] {
  return [...seen].flatMap(([name, connections]) =>
    connectionGrowthOf(connections)
      .filter(({ is_flat }) => !is_flat)
      .map(({ title, first, last }) => `${name}: connections with ${title} ${first} → ${last}`),
  );
}

/** Returns the highest number of connections that a process had with this peer. */
function most(seen: Seen, peer: string): number {
  return Math.max(...[...seen.values()].flat().map((connections) => connections[peer] ?? 0));
}

const { postgres, redis, etcd } = services();

test.skipIf(!(postgres.binary && redis.binary && etcd.binary && CAN_COUNT_CONNECTIONS))(
  "no process opens more and more connections to any peer, idle or under load",
  async () => {
    await using system = await System.start(leash(), () => {});
    const idle = await look(system, async () => {});
    expect(grown(idle)).toEqual([]);
    const callers = await newCallers(system);
    await using load = new Load(system, callers);
    await waitFor(() => load.recorder.answers.length > WARM_REQUESTS, {
      timeout_ms: 60_000,
      what: "A load that runs",
    });
    const loaded = await look(system, () =>
      Promise.all(Array.from({ length: LEAVING }, () => leave(system, callers))),
    );
    expect(grown(loaded)).toEqual([]);
    // A watch may stay on its connection when a silent one was replaced for calls.
    for (const seen of [idle, loaded]) expect(most(seen, "etcd")).toBeLessThanOrEqual(2);
    expect(most(loaded, "Redis")).toBe(1);
  },
);
