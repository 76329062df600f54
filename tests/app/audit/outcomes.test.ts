import { describe, expect, test } from "bun:test";
import { decodeDetails } from "@ostiary/lib/contracts/audit";
import { manualClock } from "../../support/time/manual-clock.ts";
import { intent, json, requestId, sharedAudit, startAudit, userIntent, wrongFields } from "./bed.ts";

const audit = sharedAudit();

describe("an outcome", () => {
  // AU-3, AU-17, AU-18
  test("makes a pending event final, and does nothing when it is sent again", async () => {
    const id = requestId();
    await audit.put(id, intent());
    const outcome = {
      outcome: "responded",
      status: 201,
      details: { name: { from: "a", to: "b" } },
      created_id: "w",
    };
    expect((await audit.patch(id, outcome)).status).toBe(204);
    expect((await audit.patch(id, outcome)).status).toBe(204);
    expect((await audit.patch(id, { outcome: "rejected", status: 403 })).status).toBe(204);
    expect(await audit.event(id)).toMatchObject(outcome);
  });

  // AU-18, ER-24
  test("is 404 for a request that the log does not hold", async () => {
    const response = await audit.patch("nobody", { outcome: "rejected", status: 503 });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { code: "NOT_FOUND", details: { resource: "audit_event", id: "nobody" } },
    });
  });

  // AU-16, AU-22
  test.each([
    ["a name twice", '{"id":1,"id":2}', 'an object has two members with the name "id"'],
    [
      "a number that a double changes",
      '{"id":12345678901234567890}',
      'a double cannot represent the number "12345678901234567890" exactly',
    ],
  ])("with %s in its details is 422 and changes nothing", async (_, details, reason) => {
    const id = requestId();
    await audit.put(id, intent());
    const one = `{"outcome":"responded","status":200,"details":${details}}`;
    for (const response of [
      await audit.patch(id, one),
      await audit.postOutcomes(`{"outcomes":[{"request_id":"${id}",${one.slice(1)}]}`),
    ]) {
      expect(response.status).toBe(422);
      expect((await json(response)).error).toMatchObject({
        code: "VALIDATION_ERROR",
        details: { fields: [{ path: "", message: `The body must be I-JSON: ${reason}.` }] },
      });
    }
    expect(await audit.event(id)).toMatchObject({ outcome: "pending", details: null });
  });

  test("is applied even if it comes long after its intent", async () => {
    const time = manualClock("2026-01-31T23:59:00Z");
    await using service = await startAudit({ clock: time });
    await service.put("late", intent({ occurred_at: time.date().toISOString() }));
    time.set("2026-06-01T00:00:00Z");
    expect((await service.patch("late", { outcome: "no_response", status: 502 })).status).toBe(204);
    const { audit_events } = await service.list("/organizations/organization-1/audit-events");
    expect(audit_events[0]).toMatchObject({ outcome: "no_response", status: 502 });
  });

  // AU-19
  test.each([
    ["no_response", null],
    ["responded", 599],
  ])("%s with status %p is applied", async (outcome, status) => {
    const id = requestId();
    await audit.put(id, intent());
    expect(
      (await audit.patch(id, { outcome, status, details: null, created_id: null, more: 1 })).status,
    ).toBe(204);
    expect(await audit.event(id)).toMatchObject({ outcome, status });
  });

  const responded = { outcome: "responded", status: 200 };
  const pair = { organization_id: "o", member_id: "m" };
  // AU-19, AU-20
  test.each([
    ["pending", { outcome: "pending", status: null }, ["outcome"]],
    ["responded without a number", { outcome: "responded", status: null }, ["status"]],
    ["with a status of 99", { outcome: "rejected", status: 99 }, ["status"]],
    ["rejected with details", { outcome: "rejected", status: 403, details: {} }, ["details"]],
    ["rejected with a pair", { outcome: "rejected", status: 403, ...pair }, ["organization_id", "member_id"]],
    ["with half a pair", { ...responded, organization_id: "o" }, ["member_id"]],
    ["with NUL in created_id", { ...responded, created_id: "\0" }, ["created_id"]],
    ["with details of 4097 escaped bytes", { ...responded, details: { ab: "é".repeat(682) } }, ["details"]],
  ])("%s is 422 and changes nothing", async (_, body, fields) => {
    const id = requestId();
    await audit.put(id, userIntent());
    expect((await wrongFields(await audit.patch(id, body))).sort()).toEqual(fields.sort());
    expect(await audit.event(id, "/users/user-1")).toMatchObject({ outcome: "pending", created_id: null });
  });

  // AU-13, AU-16
  test.each([
    ["a text", { a: [1, { b: "x\ud800" }] }, "details.a[1].b"],
    ["a name", { a: [1, { "\udfffx": 1 }] }, "details.a[1]"],
    ["a name of the details", { "\ud83d": 1 }, "details"],
    ["another text", { a: { b: "\ufffe" } }, "details.a.b"],
    ["another name", { "\u{1ffff}": 1 }, "details"],
  ])(
    "with half of a surrogate pair or a noncharacter in %s is 422 at its place and changes nothing",
    async (_, details, path) => {
      const id = requestId();
      await audit.put(id, intent());
      const outcome = { outcome: "responded", status: 200, details };
      expect(await wrongFields(await audit.patch(id, outcome))).toEqual([path]);
      const batch = { outcomes: [{ request_id: id, ...outcome }] };
      expect(await wrongFields(await audit.postOutcomes(batch))).toEqual([`outcomes[0].${path}`]);
      expect(await audit.event(id)).toMatchObject({ outcome: "pending", details: null });
      expect(decodeDetails(JSON.stringify(details))).toBeNull();
    },
  );

  // AU-22
  test.each([
    ["every kind of escape", { '\0\u001f"\\/': "\0\b\t\u2028 🚪 é" }],
    ["__proto__", JSON.parse('{"__proto__":{"x":1},"constructor":2}')],
    ["4096 bytes of escapes", { a: `${"é".repeat(681)}xx` }],
    ["numbers that grow when they are read", { a: Array.from({ length: 800 }, () => 1e20) }],
    ["as many levels as a body may have", JSON.parse(`{"a":${"[".repeat(62)}${"]".repeat(62)}}`)],
  ])("keeps details with %s exactly", async (_, details) => {
    const id = requestId();
    await audit.put(id, intent());
    expect((await audit.patch(id, { outcome: "responded", status: 200, details })).status).toBe(204);
    const text = await (
      await audit.get(`/organizations/organization-1/audit-events?request_id=${id}`)
    ).text();
    expect(JSON.stringify(JSON.parse(text).audit_events[0].details)).toBe(JSON.stringify(details));
  });
});

test("an outcome is refused if its details are nested too deeply", async () => {
  const id = requestId();
  await audit.put(id, intent());
  const details = JSON.parse(`{"a":${"[".repeat(63)}${"]".repeat(63)}}`);
  expect((await audit.patch(id, { outcome: "responded", status: 200, details })).status).toBe(422);
});

describe("an outcome of a user route", () => {
  // AU-4
  test("adds the event to the organization's log too, with the member as actor and without the person", async () => {
    const id = requestId();
    await audit.put(id, userIntent());
    const outcome = {
      outcome: "responded",
      status: 201,
      organization_id: "organization-9",
      member_id: "member-9",
    };
    expect((await audit.patch(id, outcome)).status).toBe(204);
    const actor = { member_id: "member-9", auth_type: "jwt", key_prefix: null };
    const inUser = await audit.event(id, "/users/user-1");
    expect(inUser).toMatchObject({ user_id: "user-1", organization_id: "organization-9", actor });
    const inOrganization = await audit.event(id, "/organizations/organization-9");
    expect(inOrganization).toMatchObject({ organization_id: "organization-9", actor });
    expect(Object.keys(inOrganization ?? {})).not.toContain("user_id");
    for (const filter of ["params[widget_id]=widget-1", "actor_member_id=member-9", "service=widgets"]) {
      const page = await audit.list(`/organizations/organization-9/audit-events?${filter}`);
      expect(page.audit_events.map((each) => each.request_id)).toContain(id);
    }
  });

  // AU-21
  test("is 422 and leaves the event pending if it names an organization for an event of an organization's log", async () => {
    const id = requestId();
    await audit.put(id, intent());
    const outcome = { outcome: "responded", status: 200, organization_id: "organization-2", member_id: "m" };
    expect(await wrongFields(await audit.patch(id, outcome))).toEqual(["organization_id"]);
    expect(await audit.event(id)).toMatchObject({ outcome: "pending", organization_id: "organization-1" });
    expect((await audit.patch(id, { outcome: "responded", status: 200 })).status).toBe(204);
    expect((await audit.patch(id, outcome)).status).toBe(204);
    expect(await audit.event(id)).toMatchObject({ organization_id: "organization-1" });
  });
});
