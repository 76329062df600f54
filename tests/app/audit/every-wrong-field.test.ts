import { describe, expect, test } from "bun:test";
import { wordsOf } from "../../support/words.ts";
import { intent, requestId, sharedAudit, userIntent, wrongFields } from "./bed.ts";

const audit = sharedAudit();

const sorted = async (pending: Promise<Response>) => (await wrongFields(await pending)).toSorted();

// AU-15
describe("one response names everything that is wrong", () => {
  test("with an intent: its shape, its time, its texts, its params and its request id", async () => {
    const body = {
      occurred_at: "yesterday",
      organization_id: 7,
      actor: { member_id: "\0", auth_type: "magic", key_prefix: "k".repeat(65) },
      service: "s".repeat(129),
      method: null,
      route: "/道",
      params: { a: 1, b: "\0", "": "c", "d\ne": [] },
      ip: "\0",
    };
    expect(await sorted(audit.put("not visible", body))).toEqual(
      [
        ...wordsOf("occurred_at organization_id user_id actor.member_id actor.auth_type"),
        ...[
          "actor.key_prefix",
          "service",
          "method",
          "route",
          "params.a",
          "params.b",
          "params",
          "params.d\ne",
        ],
        ...wordsOf("ip user_agent request_id"),
      ].toSorted(),
    );
  });

  test("with an outcome: its shape, disallowed fields, half of a pair and its texts", async () => {
    const id = requestId();
    await audit.put(id, userIntent());
    const rejected = { outcome: "rejected", status: "403", details: [], created_id: "\0", member_id: "m" };
    expect(await sorted(audit.patch(id, rejected))).toEqual(
      wordsOf("created_id details member_id organization_id status"),
    );
    const responded = {
      outcome: "responded",
      status: null,
      details: { a: "x".repeat(4_096) },
      created_id: 1,
      organization_id: "\0",
    };
    expect(await sorted(audit.patch(id, responded))).toEqual(
      wordsOf("created_id details member_id organization_id status"),
    );
    expect(await sorted(audit.patch("not visible", { status: 1 }))).toEqual(
      wordsOf("outcome request_id status"),
    );
  });

  test("each once, and at most a hundred", async () => {
    const params = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`p${n}`, "\0"]));
    const named = await wrongFields(
      await audit.put(requestId(), intent({ params, service: "\0".repeat(129) })),
    );
    expect(named).toHaveLength(100);
    expect(new Set(named).size).toBe(100);
    expect(named).toContain("service");
    const query = Array.from({ length: 300 }, (_, n) => `p${n}=1&p${n}=1`).join("&");
    expect(await wrongFields(await audit.get(`/users/u/audit-events?${query}`))).toHaveLength(100);
  });
});
