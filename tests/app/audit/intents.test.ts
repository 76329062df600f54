import { describe, expect, test } from "bun:test";
import { manualClock } from "../../support/time/manual-clock.ts";
import { intent, json, requestId, sharedAudit, startAudit, wrongFields } from "./bed.ts";

const audit = sharedAudit();

describe("an intent", () => {
  // AU-9
  test("is 201 if it is new, and 200 without any change if its request is known", async () => {
    const id = requestId();
    const first = await audit.put(id, intent());
    expect([first.status, await first.json()]).toEqual([201, { result: "created" }]);
    const again = await audit.put(id, intent({ service: "another", occurred_at: new Date().toISOString() }));
    expect([again.status, await again.json()]).toEqual([200, { result: "existing" }]);
    expect(await audit.event(id)).toMatchObject({ service: "widgets", outcome: "pending", status: null });
  });

  // AU-1
  test("is read back as it was sent", async () => {
    const id = requestId();
    const sent = intent({ occurred_at: new Date(Date.now() - 3_600_000).toISOString() });
    await audit.put(id, sent);
    const { user_id: _, ...seen } = sent;
    const expected: unknown = {
      ...seen,
      id: expect.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      request_id: id,
      outcome: "pending",
      status: null,
      details: null,
      created_id: null,
    };
    expect<unknown>(await audit.event(id)).toEqual(expected);
  });

  // AU-14
  test("may have fields that this version of the service does not know", async () => {
    const id = requestId();
    const body = intent({ region: "eu", nested: { a: "\0", b: [1] } });
    expect((await audit.put(id, { ...body, actor: { ...Object(body.actor), rank: 1 } })).status).toBe(201);
    expect(Object.keys((await audit.event(id)) ?? {})).not.toContain("region");
  });

  // AU-10
  test("accepts a time of another offset, with microseconds and in lower case", async () => {
    await using service = await startAudit({ clock: manualClock("2026-01-01T12:00:00Z") });
    for (const [occurred_at, expected] of [
      ["2026-01-01T02:00:00.000+02:00", "2026-01-01T00:00:00.000Z"],
      ["2026-01-01T00:00:00.123456Z", "2026-01-01T00:00:00.123Z"],
      ["2026-01-01t00:00:00z", "2026-01-01T00:00:00.000Z"],
    ]) {
      const id = requestId();
      expect((await service.put(id, intent({ occurred_at }))).status).toBe(201);
      expect(await service.event(id)).toMatchObject({ occurred_at: expected });
    }
  });

  const wrong: [string, Record<string, unknown>, string[]][] = [
    ["occurred_at without a zone", intent({ occurred_at: "2026-01-01T00:00:00" }), ["occurred_at"]],
    ["occurred_at over a day old", intent({ occurred_at: hours(-24.1) }), ["occurred_at"]],
    ["occurred_at over a day ahead", intent({ occurred_at: hours(24.1) }), ["occurred_at"]],
    ["no log", intent({ organization_id: null }), ["organization_id"]],
    ["organization_id that is too long", intent({ organization_id: "o".repeat(129) }), ["organization_id"]],
    ["actor that is null", intent({ actor: null }), ["actor"]],
    ["a param without a name", intent({ params: { "": "a" } }), ["params"]],
    [
      "33 params",
      intent({ params: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [n, ""])) }),
      ["params"],
    ],
    ["a param with NUL", intent({ params: { a: "\0" } }), ["params.a"]],
    ["user_agent that is too long", intent({ user_agent: "u".repeat(513) }), ["user_agent"]],
    ["service with half a surrogate pair", intent({ service: "\ud800" }), ["service"]],
  ];

  // AU-10, AU-11, AU-12, AU-13
  test.each(wrong)("with %s is 422 and writes nothing", async (_, body, fields) => {
    const id = requestId();
    const named = await wrongFields(await audit.put(id, body));
    expect(named).toEqual(fields);
    expect(await audit.event(id)).toBeUndefined();
  });

  // AU-16
  test.each([
    ["not JSON", "{", 400],
    ["empty", "", 422],
    ["larger than 64 KiB", JSON.stringify(intent({ padding: "x".repeat(65_536) })), 413],
  ])("whose body is %s is refused", async (_, body, status) => {
    const response = await fetch(`${audit.internalUrl}/internal/events/${requestId()}`, {
      method: "PUT",
      body,
    });
    expect([response.status, typeof (await json(response)).error.message]).toEqual([status, "string"]);
  });

  // AU-12
  test.each(["a b", "é", "x".repeat(129)])("for request id %j is 422", async (id) => {
    expect(await wrongFields(await audit.put(id, intent()))).toEqual(["request_id"]);
    expect(await wrongFields(await audit.patch(id, { outcome: "rejected", status: 403 }))).toEqual([
      "request_id",
    ]);
  });

  // AU-12, ER-15
  test("accepts 128 characters of visible ASCII as request id, and a path of such characters", async () => {
    const id = `${"~".repeat(127)}%`;
    expect((await audit.put(id, intent())).status).toBe(201);
    const broken = await fetch(`${audit.internalUrl}/internal/events/%zz`, { method: "PUT", body: "{}" });
    expect(broken.status).toBe(404);
  });

  // AU-37
  test.each([
    ["__proto__", "x"],
    ["empty", ""],
    ["a]b[c", "]"],
    ["names can be quite long ".repeat(20), "v".repeat(8_000)],
    ["ключ", "значение 🚪"],
  ])("keeps a param named %j, and finds it", async (name, value) => {
    const id = requestId();
    const params = `{${JSON.stringify(name)}:${JSON.stringify(value)},"other":"o"}`;
    const body = JSON.stringify(intent()).replace('{"widget_id":"widget-1"}', params);
    expect((await audit.put(id, body)).status).toBe(201);
    const query = `params[${encodeURIComponent(name)}]=${encodeURIComponent(value)}&request_id=${id}`;
    const text = await (await audit.get(`/organizations/organization-1/audit-events?${query}`)).text();
    const found = JSON.parse(text).audit_events[0].params;
    expect<unknown>(Object.entries(found).sort()).toEqual(
      [
        [name, value],
        ["other", "o"],
      ].sort(),
    );
    const { audit_events } = await audit.list(
      `/organizations/organization-1/audit-events?params[other]=o&params[${encodeURIComponent(name)}]=nope`,
    );
    expect(audit_events).toEqual([]);
  });
});

function hours(count: number): string {
  return new Date(Date.now() + count * 3_600_000).toISOString();
}
