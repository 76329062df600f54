import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AuditService, intent, json, requestId, startAudit } from "../../../app/audit/bed.ts";
import type { TestServer } from "../../../support/index.ts";
import { services, startPostgres, waitFor } from "../../../support/index.ts";

const REJECTED = { outcome: "rejected", status: 403 };
const LOG = "/organizations/organization-1/audit-events";

describe.skipIf(!services().postgres.real)("audit while its database is down", () => {
  let server: TestServer;
  let audit: AuditService;

  beforeAll(async () => {
    server = await startPostgres();
    audit = await startAudit({ databaseUrl: server.url });
  });
  afterAll(async () => {
    await audit.stop();
    await server.close();
  });

  const ready = async () => (await fetch(`${audit.internalUrl}/health/ready`)).status;

  /**
   * Calls every kind of operation that needs the database, and returns [status, error code] of each response.
   */
  async function refusals(known: string) {
    const all = await Promise.all([
      ...Array.from({ length: 40 }, () => audit.put(requestId(), intent())),
      ...Array.from({ length: 10 }, () => audit.patch(known, REJECTED)),
      ...Array.from({ length: 10 }, () => audit.get(LOG)),
      audit.get(LOG, { Accept: "text/csv" }),
      audit.get(LOG, { Accept: "application/x-ndjson" }),
    ]);
    return Promise.all(all.map(async (each) => [each.status, (await json(each)).error?.code]));
  }

  // AU-27
  test("responds to every write and read with 503, and recovers by itself", async () => {
    const known = requestId();
    expect((await audit.put(known, intent())).status).toBe(201);
    await server.kill();
    for (const refusal of await refusals(known)) expect(refusal).toEqual([503, "SERVICE_UNAVAILABLE"]);
    expect(await ready()).toBe(503);
    expect((await fetch(`${audit.internalUrl}/health/live`)).status).toBe(200);
    expect((await audit.put(requestId(), {})).status).toBe(422);
    await server.restart();
    await waitFor(async () => (await ready()) === 200, { what: "readiness" });
    expect((await audit.patch(known, REJECTED)).status).toBe(204);
    expect((await audit.put(known, intent())).status).toBe(200);
    const fresh = requestId();
    expect((await audit.put(fresh, intent())).status).toBe(201);
    const { audit_events } = await audit.list(`${LOG}?request_id=${known}`);
    expect(audit_events).toMatchObject([{ outcome: "rejected" }]);
  });

  // AU-30
  test("(killed under load) has every acknowledged intent in the log once", async () => {
    const written: string[] = [];
    let unavailable = 0;
    let ended = false;
    const load = Array.from({ length: 16 }, async () => {
      while (!ended) {
        const id = requestId();
        const { status } = await audit.put(id, intent());
        if (status === 201) written.push(id);
        else if (status === 503) unavailable += 1;
        else throw new Error(`The response is ${status}.`);
      }
    });
    let before = 0;
    try {
      await waitFor(() => written.length > 500);
      await server.kill();
      await waitFor(() => unavailable > 50);
      before = written.length;
      await server.restart();
      await waitFor(() => written.length > before + 500, { timeoutMs: 30_000 });
    } finally {
      ended = true;
      await Promise.all(load);
    }
    await waitFor(async () => (await ready()) === 200, { what: "readiness" });
    for (const id of [...written.slice(before - 300, before + 300), ...written.slice(-50)]) {
      expect((await audit.list(`${LOG}?request_id=${id}`)).audit_events).toHaveLength(1);
    }
  });
});
