import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { intent, requestId, sharedAudit } from "./bed.ts";

setDefaultTimeout(120_000);

const audit = sharedAudit();

// AU-12, AU-13
describe("texts of any length and any characters", () => {
  test.each(["道", "🚪"])("are stored if every field has its maximum length, of %s", async (character) => {
    const long = (length: number) => character.repeat(length).slice(0, length - (length % character.length));
    const id = requestId();
    const wide = intent({
      organization_id: long(128),
      user_id: long(128),
      actor: { member_id: long(128), auth_type: "jwt", key_prefix: long(64) },
      service: long(128),
      method: long(16),
      route: "/".repeat(1_024),
      params: Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`${n}${long(60)}`, long(300)])),
      ip: long(64),
      user_agent: long(512),
    });
    expect((await audit.put(id, wide)).status).toBe(201);
    const outcome = { outcome: "responded", status: 200, created_id: long(128) };
    expect((await audit.patch(id, outcome)).status).toBe(204);
    const query = new URLSearchParams({
      actor_member_id: long(128),
      service: long(128),
      method: long(16),
      route: "/".repeat(1_024),
      request_id: id,
      created_id: long(128),
      [`params[7${long(60)}]`]: long(300),
    });
    for (const log of [`/organizations/${long(128)}`, `/users/${long(128)}`]) {
      const page = await audit.list(`${encodeURI(log)}/audit-events?${query}`);
      expect(page.audit_events).toMatchObject([{ request_id: id, params: wide.params }]);
    }
  });
});
