const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
const ESTABLISHED = "01";
/** The maximum number of lines to read. More lines would delay requests. */
const LINES_MAX = 200_000;

/**
 * Returns the number of open client connections of all processes that share the port. Reads it from the
 * operating system, because the runtime does not count connections. Returns null on systems other than Linux.
 */
export async function openConnections(port: number): Promise<number | null> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const counts = await Promise.all(TABLES.map((table) => countIn(table, local)));
  const known = counts.filter((count) => count !== null);
  return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0);
}

/**
 * Counts the established connections in a table of `/proc/net`. The fields of each line are
 * `sl local_address rem_address st …`.
 */
async function countIn(table: string, local: string): Promise<number | null> {
  let count = 0;
  let lines = 0;
  let rest = "";
  try {
    const decoder = new TextDecoder();
    for await (const chunk of Bun.file(table).stream()) {
      const texts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = texts.pop() ?? "";
      for (const text of texts) {
        const [, address = "", , state] = text.trimStart().split(/ +/, 4);
        if (state === ESTABLISHED && address.endsWith(local)) count += 1;
      }
      lines += texts.length;
      if (lines > LINES_MAX) break;
    }
    return count;
  } catch {
    return null; // not Linux, or no IPv6
  }
}
