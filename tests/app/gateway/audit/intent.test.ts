import { describe, expect, test } from "bun:test";
import { intentOf } from "../../../../apps/gateway/audit/intent.ts";
import { responding, taken } from "../../../support/gateway/audit-stand-in.ts";
import { rejection, waitFor } from "../../../support/index.ts";
import { intent, pausesPass, useTimedRecording } from "./bed.ts";

const { audit, recorder, clock } = useTimedRecording();

const never = () => new Promise<Response>(() => {});
const arrived = (count: number) => waitFor(() => audit.of("PUT").length === count);

/** Writes an intent whose attempts fail at once. `pauses` is the number of pauses between them. */
async function refusal(pauses = 2): Promise<unknown> {
  const refused = rejection(recorder.intent("r1", intent));
  for (let pause = 0; pause < pauses; pause++) await pausesPass(clock);
  return refused;
}

/** Writes an intent without getting a response. Returns the timeouts of the attempts too. */
async function silence(): Promise<{ error: unknown; timeoutsMs: number[] }> {
  const refused = rejection(recorder.intent("r1", intent));
  await arrived(1);
  const [firstMs = 0] = clock.waiting();
  clock.advance(firstMs);
  await pausesPass(clock);
  await arrived(2);
  const [lastMs = 0] = clock.waiting();
  clock.advance(lastMs);
  return { error: await refused, timeoutsMs: [firstMs, lastMs] };
}

const unavailable = { code: "SERVICE_UNAVAILABLE", status: 503 };

describe("an intent", () => {
  test.each([201, 200])(
    "is recorded if the audit service returns %d, with one PUT under the request id",
    async (status) => {
      audit.respond = responding(status);
      await recorder.intent("r1", intent);
      expect(audit.writes).toEqual([
        {
          method: "PUT",
          path: "/internal/events/r1",
          body: JSON.parse(JSON.stringify(intent)),
          token: "inner-token",
        },
      ]);
      expect(await recorder.counts()).toEqual({ "intent ok": 1 });
      expect(await recorder.durations()).toEqual({ ok: 1 });
    },
  );

  // GW-138
  test("is tried three times with the same body, and the third may succeed", async () => {
    audit.respond = (write) => (audit.writes.length < 3 ? new Response(null, { status: 503 }) : taken(write));
    const recorded = recorder.intent("r1", intent);
    await pausesPass(clock);
    await pausesPass(clock);
    await recorded;
    expect(audit.writes).toHaveLength(3);
    expect(new Set(audit.writes.map((write) => JSON.stringify(write))).size).toBe(1);
    expect(await recorder.counts()).toEqual({ "intent ok": 1 });
  });

  // GW-138, GW-139
  test("is 503 if three attempts fail", async () => {
    audit.respond = responding(503);
    expect(await refusal()).toMatchObject(unavailable);
    expect(audit.of("PUT")).toHaveLength(3);
    expect(await recorder.counts()).toMatchObject({ "intent failed": 1 });
    expect(await recorder.durations()).toEqual({ failed: 1 });
  });

  // GW-138, GW-139
  test("is 503 at once if the audit service refuses it with 422, and the refusal is logged as an error", async () => {
    audit.respond = responding(422);
    expect(await refusal(0)).toMatchObject(unavailable);
    expect(audit.writes).toHaveLength(1);
    expect(recorder.lines.join()).toContain('the audit service refused an intent {"request_id":"r1"}');
  });

  // GW-138
  test("is 503 after two attempts without a response, the first of half a second, within a second", async () => {
    audit.respond = never;
    const { error, timeoutsMs } = await silence();
    expect(error).toMatchObject(unavailable);
    expect(audit.of("PUT")).toHaveLength(2);
    expect(timeoutsMs[0]).toBe(500);
    expect(Math.ceil(clock.elapsedMs())).toBe(1_000);
  });
});

// GW-140
describe("a refused intent gets a rejected outcome with 503 in the background", () => {
  const rejected = {
    method: "PATCH",
    path: "/internal/events/r1",
    body: { outcome: "rejected", status: 503 },
  };

  test.each([
    ["timed out", never, async () => (await silence()).error],
    ["returned 503", responding(503), refusal],
  ] as const)(
    "if the audit service %s, because it may have stored the intent",
    async (_, failure, refused) => {
      audit.respond = (write) => (write.method === "PUT" ? failure(write) : taken(write));
      expect(await refused()).toMatchObject(unavailable);
      await waitFor(() => audit.of("PATCH").length === 1);
      expect(audit.of("PATCH")).toMatchObject([rejected]);
    },
  );

  test.each([
    ["refused it with 422", 422, 0],
    ["returned 401, as for a wrong token", 401, 2],
  ])(
    "but not if the audit service %s, which means that it has not stored the intent",
    async (_, status, pauses) => {
      audit.respond = (write) => (write.method === "PUT" ? responding(status)(write) : taken(write));
      expect(await refusal(pauses)).toMatchObject(unavailable);
      await recorder.close(1_000);
      expect(audit.of("PATCH")).toEqual([]);
    },
  );

  test("but not if the connection was refused: an outage does not fill the queue", async () => {
    await audit.stop();
    expect(await refusal()).toMatchObject(unavailable);
    expect(recorder.lines).toEqual([]);
    await recorder.close(0);
    expect(await recorder.counts()).toEqual({ "intent failed": 1 });
  });
});

// GW-136
describe("an intent", () => {
  const route = { service: "widgets", method: "POST", path: "/w/{a}/{b}", params: ["a", "b"] } as const;
  const member = {
    auth_type: "member_session",
    key_prefix: "acme-s-2-AbCd",
    user_id: null,
    organization_id: "o1",
    member_id: "m1",
    labels: [],
    plan: null,
  } as const;
  const person = {
    ...member,
    auth_type: "jwt",
    key_prefix: null,
    user_id: "u1",
    organization_id: null,
    member_id: null,
  } as const;
  const rest = {
    values: ["1", "%C3%A9"],
    ip: "::1",
    user_agent: "curl/8",
    receivedAtMs: 1_767_225_600_001,
  };

  // GW-136
  test("on a user route belongs to the person's log, and its actor has no member_id", () => {
    expect(intentOf({ ...rest, route: { ...route, scope: "user" }, principal: person })).toMatchObject({
      organization_id: null,
      user_id: "u1",
      actor: { member_id: null, auth_type: "jwt", key_prefix: null },
    });
  });

  // GW-137
  test("always has params, and a user agent that is cut to 512 characters or is null", () => {
    const bare = { ...route, scope: "member", params: [] } as const;
    const of = (user_agent: string | null) =>
      intentOf({ ...rest, values: [], user_agent, route: bare, principal: member });
    expect(of(null)).toMatchObject({ params: {}, user_agent: null });
    expect(of("x".repeat(513)).user_agent).toBe("x".repeat(512));
    expect(of("")).toMatchObject({ user_agent: "" });
  });
});
