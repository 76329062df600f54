import { createReadStream } from "node:fs";

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
/** The maximum number of characters to read from each table, enough for about 200 000 connections. */
const LENGTH_MAX = 30_000_000;

/**
 * Returns the number of open client connections of all processes that share the port. Reads the number from the
 * system, because the runtime does not count connections. The system returns its table in pages of about 27
 * connections. If connections open or close between two pages, the number can be a few too high or too low.
 * Returns null on systems other than Linux.
 */
export async function openConnections(port: number): Promise<number | null> {
  const counts = await Promise.all(TABLES.map((table) => countIn(table, port)));
  const known = counts.filter((count) => count !== null);
  return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0);
}

/**
 * Counts the established connections in a table of `/proc/net`. The kernel takes milliseconds to write the
 * table. A stream of `node:fs` waits in another thread; a stream of Bun would delay requests.
 */
async function countIn(table: string, port: number): Promise<number | null> {
  const established = establishedOn(port);
  let count = 0;
  let length = 0;
  let rest = "";
  try {
    for await (const chunk of createReadStream(table, "latin1")) {
      const text = rest + chunk;
      const end = text.lastIndexOf("\n") + 1;
      count += text.slice(0, end).match(established)?.length ?? 0;
      rest = text.slice(end);
      length += chunk.length;
      if (length > LENGTH_MAX) break;
    }
    return count;
  } catch {
    return null; // not Linux, or no IPv6
  }
}

/** Matches the local port, the remote address and the state in a line: `… 0100007F:1F90 0100007F:C3F2 01 …`. */
function establishedOn(port: number): RegExp {
  const local = port.toString(16).toUpperCase().padStart(4, "0");
  return new RegExp(`:${local} [0-9A-F]+:[0-9A-F]{4} 01 `, "g");
}
