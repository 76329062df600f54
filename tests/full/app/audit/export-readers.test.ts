import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import {
  type AuditService,
  intent,
  json,
  openLog,
  requestId,
  sqlOn,
  startAudit,
} from "../../../app/audit/bed.ts";
import { services, waitFor } from "../../../support/index.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const NDJSON = { Accept: "application/x-ndjson" };
const OWNERS = ["owner-1", "owner-2", "owner-3", "owner-4", "owner-5"];
/** The number of events of each owner. Events have over 2 KB, so an export exceeds all socket buffers. */
const EVENTS = 6_000;
const LAG_MS_MAX = 1_500;

const path = (owner: string) => `/organizations/${owner}/audit-events`;

describe.skipIf(!services().postgres.real)("readers of exports", () => {
  const logFile = join(temporaryFolder("exports"), "log");
  let audit: AuditService;
  let log: Database;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    audit = await startAudit({ env: { LOG_FILE: logFile } });
    log = await openLog(audit);
    for (const owner of OWNERS) await log.run("fill", (orm) => orm.execute(eventsOf(owner)));
  });
  afterAll(async () => {
    await log.close();
    await audit.stop();
  });
  /** Expects that a test leaves no export slot in use and no database cursor open. */
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await waitFor(async () => (await cursors()) === 0, { what: "the end of every cursor" });
    await waitFor(() => allSlotsFree(audit), { what: "all slots free" });
  });

  const cursors = async () => {
    const found = await sqlOn(log)<{ count: number }>`
      select count(*) from pg_stat_activity
        where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`;
    return found[0]?.count;
  };
  /** Returns whether as many short exports as there are slots can run at once. */
  const allSlotsFree = async (service: AuditService) => {
    const nothing = ["owner-1", "owner-1", "owner-2", "owner-3"].map(
      (owner) => `${path(owner)}?service=none`,
    );
    const tries = await Promise.all(nothing.map((each) => service.get(each, NDJSON)));
    await Promise.all(tries.map((response) => response.text()));
    return tries.every(({ status }) => status === 200);
  };
  const lines = () =>
    readFileSync(logFile, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));

  /** Starts a service on the same log, whose clients may lag only {@link LAG_MS_MAX}. */
  const startStrict = (env: Record<string, string> = {}) =>
    startAudit({
      databaseUrl: audit.databaseUrl,
      env: { LOG_FILE: logFile, EXPORT_LAG_MS_MAX: String(LAG_MS_MAX), ...env },
    });

  /** Requests an export over a paused socket. The client reads nothing until the test resumes the socket. */
  function silentReader(owner: string, { version = "1.1", url = audit.url } = {}) {
    const { hostname, port } = new URL(url);
    const id = requestId();
    const socket = createConnection({ host: hostname, port: Number(port) });
    sockets.push(socket);
    const closed = Promise.withResolvers<string>();
    let clean = true;
    socket.on("error", (error) => {
      clean = false;
      closed.resolve("code" in error ? String(error.code) : error.message);
    });
    socket.on("close", () => closed.resolve(clean ? "ended cleanly" : "broken"));
    socket.pause();
    socket.write(
      `GET ${path(owner)} HTTP/${version}\r\nHost: audit\r\nAccept: text/csv\r\nX-Request-ID: ${id}\r\n\r\n`,
    );
    return { id, socket, closed: closed.promise };
  }

  // AU-45
  test("of one log hold at most half of the slots", async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => audit.get(path("owner-1"), NDJSON)));
    const statuses = responses.map(({ status }) => status);
    expect([200, 429].map((status) => statuses.filter((each) => each === status).length)).toEqual([2, 18]);
    const refused = responses.find(({ status }) => status === 429);
    expect(refused?.headers.get("Retry-After")).toBe("10");
    expect((await json(refused ?? new Response())).error).toMatchObject({
      type: "api_error",
      code: "RATE_LIMITED",
      details: { retry_after_seconds: 10 },
    });
    const person = await audit.get("/users/owner-1/audit-events", NDJSON);
    expect([person.status, await person.text()]).toEqual([200, ""]);
    const others = await Promise.all([2, 3].map((n) => audit.get(path(`owner-${n}`), NDJSON)));
    expect(others.map(({ status }) => status)).toEqual([200, 200]);
    expect((await audit.get(path("owner-2"), NDJSON)).status).toBe(429);
    expect((await audit.get(path("owner-4"))).status).toBe(200);
    expect((await audit.put(requestId(), intent())).status).toBe(201);
    const running = [...responses, ...others].filter(({ status }) => status === 200);
    await Promise.all(running.map((response) => response.body?.cancel()));
  });

  // AU-46
  test.each(["1.1", "1.0"])(
    "that stop reading the response get a broken connection over HTTP/%s",
    async (version) => {
      await using strict = await startStrict();
      const readers = OWNERS.slice(0, 4).map((owner) => silentReader(owner, { version, url: strict.url }));
      await waitFor(async () => (await cursors()) === 4);
      const waiting = strict.get(path("owner-5"), NDJSON);
      const ends = await Promise.all(readers.map(({ closed }) => closed));
      expect(ends).toEqual(Array(4).fill("ECONNRESET"));
      const { status, body } = await waiting;
      expect(status).toBe(200);
      await body?.cancel();
      await waitFor(() => allSlotsFree(strict), { what: "all slots free" });
      for (const { id } of readers) {
        const line = await waitFor(() =>
          lines().find((each) => each.request_id === id && each.level === "warn"),
        );
        expect(line).toMatchObject({
          message: "export broken off: its client read too slowly",
          organization_id: expect.stringMatching(/^owner-/),
          error_message: `The client fell ${LAG_MS_MAX} ms behind 16384 bytes a second.`,
        });
      }
    },
  );

  // AU-47
  test("get a broken connection when the database fails, and the log line has no SQL", async () => {
    const { id, socket, closed } = silentReader("owner-1");
    await waitFor(() => lines().some((each) => each.request_id === id), { what: "the head of the response" });
    await sqlOn(log)`
      select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`;
    socket.resume();
    expect(await closed).toBe("ECONNRESET");
    const line = await waitFor(() =>
      lines().find((each) => each.request_id === id && each.level === "error"),
    );
    expect(line).toMatchObject({ message: "export broken off", organization_id: "owner-1" });
    expect(JSON.stringify(line)).not.toMatch(/select|cursor|fetch/i);
  });

  // AU-48
  test("that disconnect at any moment free their slots, and no error is logged", async () => {
    const before = lines().length;
    for (let round = 0; round < 20; round++) {
      const { socket } = silentReader(OWNERS[round % 2] ?? "");
      if (round % 3 === 0) socket.resume();
      await Bun.sleep(Math.random() * 20);
      if (round % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    }
    await waitFor(async () => (await cursors()) === 0, { what: "the end of every cursor" });
    expect(
      lines()
        .slice(before)
        .filter(({ level }) => level === "error"),
    ).toEqual([]);
  });
});

const eventsOf = (owner: string) => sql`
  insert into audit.audit_events (
    id, occurred_at, request_id, organization_id, actor_member_id, actor_auth_type,
    service, method, route, params, ip, user_agent)
  select '01' || upper(substr(md5(${owner}::text || n), 1, 24)), now(), ${owner}::text || '-' || n, ${owner}::text,
    'member', 'jwt', 'widgets', 'POST', '/org/widgets', '{}', '192.0.2.1', repeat('u', 2000)
  from generate_series(1, ${EVENTS}::int) n`;
