import { expect, test } from "bun:test";
import { auditClient, newLog, sqlOn } from "../../../app/audit/bed.ts";
import { BUSY_ORGANIZATION, generateLog } from "../../../support/audit/generated-log.ts";
import { freshDatabase, services, startProcess, waitFor } from "../../../support/index.ts";
import { metricOf } from "../../../support/telemetry/metrics.ts";

const LOG = `/organizations/${BUSY_ORGANIZATION}/audit-events`;
const NDJSON = { Accept: "application/x-ndjson" };

/** Yields the lines of a body as they arrive. */
async function* lines(response: Response): AsyncGenerator<string, void, void> {
  let rest = "";
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

async function count(reader: AsyncGenerator<string>): Promise<number> {
  let events = 0;
  for await (const _ of reader) events += 1;
  return events;
}

test.skipIf(!services().postgres.real)(
  "an export waits in the database for clients that do not read, and holds a few batches in memory",
  async () => {
    const databaseUrl = await freshDatabase();
    const log = await newLog(databaseUrl);
    await generateLog(log, { events: 120_000, endMs: Date.now(), spanMs: 30 * 86_400_000 });
    const child = await startProcess("apps/audit/main.ts", { DATABASE_URL: databaseUrl });
    const audit = auditClient(databaseUrl, child.url, child.internalUrl, async () => {});
    const memory = () => metricOf(audit, "process_resident_memory_bytes");
    const cursors = async () => {
      const found = await sqlOn(log)<{ count: number }>`select count(*) from pg_stat_activity
        where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`;
      return found[0]?.count;
    };
    // The memory and the cursors of the sealer would be measured as those of an export.
    const sealed = async () => {
      const found = await sqlOn(log)<{ sealed: boolean }>`
        select (select count(*) from audit.entries)
          = count(*) + count(*) filter (where outcome <> 'pending') as sealed from audit.audit_events`;
      return found[0]?.sealed === true;
    };
    await waitFor(sealed, { timeoutMs: 120_000, what: "the audit service to seal the log" });
    // The first export makes the process grow once.
    const events = await count(lines(await audit.get(LOG, NDJSON)));
    const before = await memory();
    const exports = await Promise.all([audit.get(LOG, NDJSON), audit.get(LOG, NDJSON)]);
    const readers = exports.map((response) => lines(response));
    await Promise.all(readers.map((reader) => reader.next()));
    for (let page = 0; page < 100; page++) await audit.list(LOG);
    await waitFor(async () => (await cursors()) === 2, { what: "two cursors" });
    expect((await memory()) - before).toBeLessThan(64 * 1024 * 1024);
    expect(events).toBeGreaterThan(50_000);
    expect(await Promise.all(readers.map(count))).toEqual(readers.map(() => events - 1));
    await waitFor(async () => (await cursors()) === 0, { what: "the end of every cursor" });
    await log.close();
    await child.stop();
  },
  300_000,
);
