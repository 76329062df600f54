import { describe, expect, test } from "bun:test";
import { intent, json, requestId, sharedAudit } from "./bed.ts";

const TOKEN = "internal-token-of-this-test";

describe("the internal port with a token", () => {
  const audit = sharedAudit({ env: { INTERNAL_AUTH_TOKEN: TOKEN } });

  // AU-31
  test.each([[undefined], [`${TOKEN}x`]])(
    "refuses writes with the token %p, before any other check",
    async (token) => {
      const headers: Record<string, string> =
        token === undefined ? {} : { "X-Platform-Internal-Token": token };
      const id = requestId();
      const responses = [
        await audit.put(id, intent(), headers),
        await audit.put(id, "{", headers),
        await audit.patch(id, { outcome: "rejected", status: 403 }, headers),
        await fetch(`${audit.internalUrl}/internal/intents`, { method: "POST", headers }),
        await fetch(`${audit.internalUrl}/internal/outcomes`, { method: "POST", headers }),
        await fetch(`${audit.internalUrl}/internal/unknown`, { headers }),
        await fetch(`${audit.internalUrl}/internal/events/${id}`, { method: "DELETE", headers }),
      ];
      for (const response of responses) {
        expect([response.status, (await json(response)).error.code]).toEqual([401, "UNAUTHORIZED"]);
      }
      expect(
        (await audit.list(`/organizations/organization-1/audit-events?request_id=${id}`)).audit_events,
      ).toEqual([]);
    },
  );

  test("accepts writes with the token", async () => {
    const headers = { "X-Platform-Internal-Token": TOKEN };
    const id = requestId();
    expect((await audit.put(id, intent(), headers)).status).toBe(201);
    expect((await audit.patch(id, { outcome: "rejected", status: 403 }, headers)).status).toBe(204);
  });

  // AU-31
  test("does not let another spelling of a path bypass the token", async () => {
    for (const path of [
      "/%69nternal/events/x",
      "//internal/events/x",
      "/x/../%2e%2e/internal/events/x",
      "/INTERNAL/events/x",
    ]) {
      const response = await fetch(`${audit.internalUrl}${path}`, {
        method: "PUT",
        body: JSON.stringify(intent()),
      });
      expect([401, 404]).toContain(response.status);
    }
  });

  // AU-32
  test("has no read endpoints, and the public port has no write endpoints", async () => {
    expect((await fetch(`${audit.internalUrl}/users/u/audit-events`)).status).toBe(404);
    const headers = { "X-Platform-Internal-Token": TOKEN };
    const response = await fetch(`${audit.url}/internal/events/x`, { method: "PUT", headers, body: "{}" });
    expect(response.status).toBe(404);
  });
});
