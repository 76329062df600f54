/**
 * The health check of a container, whichever service the container runs. Requests `/health/ready` on every internal
 * port. Exits with 0 if at least one service responds and all that respond are ready, otherwise with 1. Writes the
 * reasons to stdout, where `docker inspect` shows them.
 *
 * The check runs every few seconds in each container. So this file imports nothing: with imports, the check would
 * cost five times as much.
 */

/** The internal ports of gateway, registry, identity, audit and portal. `INTERNAL_PORT` replaces all five. */
const PORTS = ["8000", "5003", "3001", "3003", "3005"];
const TIMEOUT_MS = 3_000;

const { HOST, INTERNAL_PORT } = process.env;
const host = HOST === undefined || ["", "0.0.0.0", "::"].includes(HOST) ? "127.0.0.1" : HOST;
const asked = INTERNAL_PORT ? [INTERNAL_PORT] : PORTS;
const states = (await Promise.all(asked.map(readiness))).filter((state) => state !== null);
if (states.length === 0) states.push(`Nothing responds on ${host}:${asked.join(", ")}.`);
const reasons = states.filter((state) => state !== "");
process.stdout.write(reasons.map((reason) => `${reason}\n`).join(""));
process.exit(reasons.length === 0 ? 0 : 1);

/** Returns an empty text for a ready port, null if nothing listens, and otherwise the reason why it is not ready. */
async function readiness(port: string): Promise<string | null> {
  const url = `http://${host}:${port}/health/ready`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), proxy: false });
    return response.ok ? "" : `${url}: ${response.status} ${await response.text()}`;
  } catch (error) {
    return error instanceof Error && error.name === "TimeoutError"
      ? `${url}: no response in ${TIMEOUT_MS} ms.`
      : null;
  }
}

export {};
