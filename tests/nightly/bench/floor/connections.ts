interface Seen {
  readonly connections: number;
  readonly requests: number;
}

/**
 * The first part of a load, which is not counted: the subject opens its pool of connections to the services.
 */
const LEAD_IN_MS = 500;

/**
 * Runs `load`, and counts how many connections the services accept for each 1 000 requests. The count starts
 * after half a second: idle connections may have closed since the subject's last load, and are opened again.
 *
 * @param upstream the URL of the nginx that serves all services
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
  // The second reading is itself one request on one new connection.
  const requests = after.requests - before.requests - 1;
  const connections = after.connections - before.connections - 1;
  return { result, connections_per_1000: (connections / requests) * 1_000 };
}

async function seenBy(upstream: string): Promise<Seen> {
  const response = await fetch(`${upstream}/connections`, { headers: { Connection: "close" } });
  const text = await response.text();
  const [, accepted, , requests] = /^ (\d+) (\d+) (\d+) $/m.exec(text) ?? [];
  if (accepted === undefined || requests === undefined)
    throw new Error(`The status page of nginx has no counts of connections: ${text}`);
  return { connections: Number(accepted), requests: Number(requests) };
}
