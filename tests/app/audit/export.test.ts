import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type Database, openDatabase } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { services, startProcess, waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import {
  type AuditService,
  auditClient,
  intent,
  json,
  requestId,
  sharedAudit,
  sqlOn,
  startAudit,
  userIntent,
} from "./audit-service.ts";
import { BUSY_ORGANIZATION, generateLog } from "./generated-log.ts";

const LOG = `/organizations/${BUSY_ORGANIZATION}/audit-events`;
const CSV = { Accept: "text/csv" };
const NDJSON = { Accept: "application/x-ndjson" };

describe("an export", () => {
  const audit = sharedAudit();

  // AU-43
  test("in CSV has a header line and one line for each event, with cells quoted where needed", async () => {
    const id = requestId();
    await audit.put(id, intent({ user_agent: 'a "quoted", name\nin two lines', params: { b: "1", a: '"' } }));
    await audit.patch(id, {
      outcome: "responded",
      status: 201,
      details: { name: { to: "é" } },
      created_id: "w-1",
    });
    const response = await audit.get(`/organizations/organization-1/audit-events?request_id=${id}`, CSV);
    expect(response.headers.get("Content-Type")).toStartWith("text/csv");
    expect(response.headers.get("Content-Disposition")).toContain("audit-events.csv");
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    const [names = "", ...lines] = (await response.text()).split("\n");
    expect(names.split(",")).toEqual([
      ...["id", "occurred_at", "request_id", "organization_id", "actor_member_id", "actor_auth_type"],
      ...[
        "actor_key_prefix",
        "service",
        "method",
        "route",
        "params",
        "ip",
        "user_agent",
        "outcome",
        "status",
      ],
      ...["details", "created_id"],
    ]);
    expect(lines.join("\n")).toEndWith(
      [
        `,${id},organization-1,member-1,member_apikey,ostiary-k-2-abcd,widgets,POST,/org/widgets/{widget_id},`,
        `"{""a"":""\\"""",""b"":""1""}",192.0.2.1,"a ""quoted"", name\nin two lines",responded,201,`,
        `"{""name"":{""to"":""é""}}",w-1\n`,
      ].join(""),
    );
  });

  // AU-43
  test.each([
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\tx",
    "\rx",
    '=HYPERLINK("http://x")',
    "-2+3+cmd|' /C calc'!A0",
  ])("in CSV has an apostrophe before %j, so that no spreadsheet runs it", async (cell) => {
    const id = requestId();
    await audit.put(
      id,
      userIntent({
        user_agent: cell,
        service: cell,
        actor: { member_id: null, auth_type: "jwt", key_prefix: cell },
      }),
    );
    await audit.patch(id, { outcome: "responded", status: 200, created_id: cell });
    const text = await (await audit.get(`/users/user-1/audit-events?request_id=${id}`, CSV)).text();
    const quoted = /[",\n\r]/.test(cell) ? `"'${cell.replaceAll('"', '""')}"` : `'${cell}`;
    expect(text.split(quoted)).toHaveLength(5);
    expect(text).not.toContain(`,${cell}`);
  });

  // AU-44
  test("in NDJSON has one event on each line, with the same fields as in a page", async () => {
    for (let n = 0; n < 5; n++)
      await audit.put(requestId(), intent({ organization_id: "lines", user_agent: "a\nb" }));
    const response = await audit.get("/organizations/lines/audit-events", NDJSON);
    expect(response.headers.get("Content-Type")).toStartWith("application/x-ndjson");
    const text = await response.text();
    const lines = text.trimEnd().split("\n");
    const { audit_events } = await audit.list("/organizations/lines/audit-events");
    expect(lines.map((line) => JSON.parse(line))).toEqual(audit_events);
    expect(text.endsWith("\n")).toBe(true);
  });

  test("of an empty log has no events", async () => {
    const query = "occurred_after=2026-01-02T00:00:00Z&occurred_before=2026-01-01T00:00:00Z";
    for (const path of ["/users/nobody/audit-events", `/users/user-1/audit-events?${query}`]) {
      expect(await (await audit.get(path, NDJSON)).text()).toBe("");
      expect((await (await audit.get(path, CSV)).text()).split("\n")).toHaveLength(2);
    }
  });

  // AU-41
  test("is JSON for requests that accept no export format", async () => {
    for (const Accept of ["*/*", "image/png", "text/csv;q=0", "application/json, text/csv;q=0.9"]) {
      const response = await audit.get("/users/user-1/audit-events", { Accept });
      expect(response.headers.get("Vary")).toBe("Accept");
      expect(await json(response)).toHaveProperty("has_more");
    }
  });
});

/** Yields the lines of a body as they arrive. */
async function* lines(response: Response): AsyncGenerator<string, void, void> {
  let rest = "";
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

describe.skipIf(!services().postgres.real)("an export of a large log", () => {
  const EVENTS = 120_000;
  let audit: AuditService;
  let log: Database;

  beforeAll(async () => {
    const { databaseUrl, stop } = await startAudit();
    await stop();
    log = await openDatabase(databaseUrl, { namespace: "audit" });
    await generateLog(log, { events: EVENTS, endMs: Date.now(), spanMs: 30 * 86_400_000 });
    const child = await startProcess("apps/audit/main.ts", { DATABASE_URL: databaseUrl });
    audit = auditClient(databaseUrl, child.url, child.internalUrl, async () => {
      await child.stop();
    });
    // Wait for the sealer, because its memory and its cursors would be measured as those of an export.
    await waitFor(sealed, { timeoutMs: 120_000, what: "the audit service to seal the log" });
  }, 240_000);
  afterAll(async () => {
    await log.close();
    await audit.stop();
  });

  const memory = () => metricOf(audit, "process_resident_memory_bytes");
  /** Returns whether every intent and every outcome has its entry. */
  const sealed = async () => {
    const found = await sqlOn(log)<{ sealed: boolean }>`
      select (select count(*) from audit.entries)
        = count(*) + count(*) filter (where outcome <> 'pending') as sealed from audit.audit_events`;
    return found[0]?.sealed === true;
  };
  /** The FROM and WHERE clauses that select other sessions' open transactions, which belong to exports. */
  const transactions = sql`from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`;
  const cursors = async () => {
    const found = await sqlOn(log)<{ count: number }>`select count(*) ${transactions}`;
    return found[0]?.count;
  };

  /** Returns whether two exports of one log, the maximum, can start at once. */
  const slotsFree = async () => {
    const tries = await Promise.all([audit.get(LOG, NDJSON), audit.get(LOG, NDJSON)]);
    await Promise.all(tries.map((response) => response.body?.cancel()));
    return tries.every(({ status }) => status === 200);
  };
  // A slot is freed shortly after its client disconnects. Wait, so that no test is affected by an earlier
  // export.
  afterEach(async () => {
    await waitFor(slotsFree, { what: "the end of every export" });
    await waitFor(async () => (await cursors()) === 0, { what: "the end of every cursor" });
  });

  // AU-42
  test("holds every event once, newest first, whatever the limit", async () => {
    const found = await sqlOn(log)<{ id: string }>`
      select id from audit.audit_events where organization_id = ${BUSY_ORGANIZATION} order by id desc`;
    const exported: string[] = [];
    for await (const line of lines(await audit.get(`${LOG}?limit=1`, NDJSON)))
      exported.push(JSON.parse(line).id);
    expect(exported.length).toBeGreaterThan(50_000);
    expect(exported).toEqual(found.map(({ id }) => id));
  });

  // AU-42
  test("continues after the last event that arrived", async () => {
    const csv = (await (await audit.get(`${LOG}?service=service-1`, CSV)).text()).trimEnd().split("\n");
    const middle = Math.floor(csv.length / 2);
    const cursor = csv[middle]?.slice(0, 26);
    const rest = await (await audit.get(`${LOG}?service=service-1&starting_after=${cursor}`, CSV)).text();
    expect(rest.trimEnd().split("\n").slice(1)).toEqual(csv.slice(middle + 1));
  });

  test("waits in the database for clients that do not read, and holds a few batches in memory", async () => {
    const whole = async (reader: AsyncGenerator<string>) => {
      let events = 0;
      for await (const _ of reader) events += 1;
      return events;
    };
    // The first export makes the process grow once. Run it before the memory is measured.
    const events = await whole(lines(await audit.get(LOG, NDJSON)));
    const before = await memory();
    const exports = await Promise.all([audit.get(LOG, NDJSON), audit.get(LOG, NDJSON)]);
    const readers = exports.map((response) => lines(response));
    await Promise.all(readers.map((reader) => reader.next()));
    for (let page = 0; page < 100; page++) await audit.list(LOG);
    await waitFor(async () => (await cursors()) === 2, { what: "two cursors" });
    expect((await memory()) - before).toBeLessThan(64 * 1024 * 1024);
    expect(events).toBeGreaterThan(50_000);
    expect(await Promise.all(readers.map(whole))).toEqual(readers.map(() => events - 1));
    await waitFor(async () => (await cursors()) === 0, { what: "the end of every cursor" });
  });

  test("closes its cursor when the client disconnects", async () => {
    for (let round = 0; round < 20; round++) {
      const leave = new AbortController();
      const response = await fetch(`${audit.url}${LOG}`, { headers: CSV, signal: leave.signal });
      const reader = response.body?.getReader();
      await reader?.read();
      leave.abort();
    }
    await waitFor(async () => (await cursors()) === 0, { what: "the end of every cursor" });
    expect((await audit.get(`${LOG}?limit=1`)).status).toBe(200);
  });

  // AU-47
  test("breaks the connection when the database fails, so that a partial export never looks complete", async () => {
    const response = await audit.get(LOG, NDJSON);
    const reader = response.body?.getReader();
    await reader?.read();
    await sqlOn(log)`select pg_terminate_backend(pid) ${transactions}`;
    const drained = (async () => {
      while (!(await reader?.read())?.done);
    })();
    expect(drained).rejects.toThrow();
    await drained.catch(() => {});
  });
});
