/** The counters of a service since its start. */
interface Seen {
  readonly connections: number;
  readonly requests: number;
}

/** The start of a load, in which a subject opens the connections that it then keeps. */
const LEAD_IN_MS = 500;

/**
 * Counts the connections that the services accept for each 1 000 requests while `load` runs. The first half second
 * does not count: connections of the turn before may have ended.
 *
 * @param upstream URL of the nginx that is all services
 */
export async function withConnections<Result>(
  upstream: string,
  load: () => Promise<Result>,
): Promise<{ result: Result; connections_per_1000: number }> {
  const loading = load();
  await Bun.sleep(LEAD_IN_MS);
  const before = await seenBy(upstream);
  const result = await loading;
  const after = await seenBy(upstream);
  // The second reading itself adds one of each.
  const requests = after.requests - before.requests - 1;
  const connections = after.connections - before.connections - 1;
  return { result, connections_per_1000: (connections / requests) * 1_000 };
}

async function seenBy(upstream: string): Promise<Seen> {
  const response = await fetch(`${upstream}/connections`, { headers: { Connection: "close" } });
  const text = await response.text();
  const [, accepted, , requests] = /^ (\d+) (\d+) (\d+) $/m.exec(text) ?? [];
  if (accepted === undefined || requests === undefined)
    throw new Error(`nginx does not report its connections: ${text}`);
  return { connections: Number(accepted), requests: Number(requests) };
}
