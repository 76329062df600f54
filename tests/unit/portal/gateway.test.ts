/** Tests of how the portal's page calls the gateway, with a fake network and a fake clock. */
import { describe, expect, test } from "bun:test";
import { bearer, type Credential } from "@ostiary/client";
import { Type } from "@sinclair/typebox";
import { Gateway } from "../../../apps/portal/page/gateway.ts";

function gatewayWith(responders: (() => Response | Promise<Response>)[]) {
  const sent: Request[] = [];
  const asked: (string | null)[] = [];
  const slept: number[] = [];
  const credential: Credential = {
    header: "X-API-Key",
    value(refused) {
      asked.push(refused);
      return refused === null ? "old" : "new";
    },
  };
  const gateway = new Gateway({ member: credential, person: bearer("person") }, "https://api.test", {
    fetch: async (request) => {
      request.signal.throwIfAborted();
      sent.push(request);
      const respond = responders[sent.length - 1];
      if (respond === undefined) throw new Error("No further call was expected.");
      return respond();
    },
    sleep: async (ms) => void slept.push(ms),
  });
  return { gateway, sent, asked, slept };
}

const limited = (seconds: number) => () =>
  new Response("{}", { status: 429, headers: { "Retry-After": String(seconds), "X-RateLimit-Limit": "3" } });
const refused = () => {
  const unauthorized = {
    type: "invalid_request_error",
    code: "UNAUTHORIZED",
    message: "Authentication required.",
  };
  const error = { ...unauthorized, request_id: "1", details: null };
  return Response.json({ error }, { status: 401, headers: { "X-Request-ID": "1" } });
};
const fine = () => Response.json({ done: true });
const Done = Type.Object({ done: Type.Boolean() });

describe("a call that the page makes", () => {
  // PT-11
  test.each([
    ["/org", "old", null],
    ["/member/api-keys", "old", null],
    ["/user/organizations", null, "Bearer person"],
    ["/edge/openapi.json", null, "Bearer person"],
  ])("of %s has the credential that the operation takes, and no other", async (path, session, token) => {
    const { gateway, sent } = gatewayWith([fine]);
    await gateway.send(Done, path);
    const [headers] = sent.map((request) => request.headers);
    expect([headers?.get("X-API-Key"), headers?.get("Authorization")]).toEqual([session, token]);
  });

  // PT-30
  test("waits for a rate limit as long as Retry-After says, and each attempt has its own timeout", async () => {
    const { gateway, sent, slept } = gatewayWith([limited(2), limited(60), fine]);
    expect(await gateway.send(Done, "/org")).toEqual({ ok: true, value: { done: true } });
    expect(slept).toEqual([2_000, 60_000]);
    const signals = sent.map((request) => request.signal);
    expect(new Set(signals).size).toBe(3);
    expect(gateway.waiting.value).toBeNull();
  });

  // PT-15
  test("renews a refused credential once, and is sent again", async () => {
    const { gateway, asked, sent } = gatewayWith([refused, fine]);
    const response = await gateway.send(Done, "/org", { method: "POST", body: {} });
    expect(response).toEqual({ ok: true, value: { done: true } });
    expect([asked, sent.length]).toEqual([[null, "old"], 2]);
    const again = gatewayWith([refused, refused]);
    expect(await again.gateway.send(Done, "/org")).toMatchObject({
      failure: { kind: "signed_out" },
    });
    expect(again.asked).toEqual([null, "old"]);
  });

  // PT-30
  test.each([
    ["a fourth consecutive 429", [limited(1), limited(1), limited(1), limited(1)], 3],
    ["a rate limit of more than a minute", [limited(61)], 0],
  ])("does not wait for %s", async (_, responders, waits) => {
    const { gateway, slept } = gatewayWith(responders);
    const response = await gateway.send(Done, "/org");
    expect(response).toMatchObject({ ok: false, failure: { status: 429 } });
    expect(slept).toHaveLength(waits);
  });
});

describe("an exchange", () => {
  // PT-44
  test("returns errors unchanged, sends the given body, and follows no redirect", async () => {
    const { gateway, sent } = gatewayWith([limited(61)]);
    const content = { type: "text/csv", text: "a,b" };
    const response = await gateway.exchange("/x", { as: "member", method: "POST", content });
    expect(response.ok && response.value.status).toBe(429);
    const [request] = sent;
    expect(request).toMatchObject({ method: "POST", redirect: "manual", url: "https://api.test/x" });
    expect(await request?.text()).toBe("a,b");
    expect(request?.headers.get("Content-Type")).toBe("text/csv");
    expect(request?.headers.get("X-API-Key")).toBe("old");
  });

  // PT-48
  test.each([
    ["GET", 2],
    ["PUT", 2],
    ["DELETE", 2],
    ["POST", 1],
    ["PATCH", 1],
  ] as const)("renews a refused credential once, and is then sent as %s %d times", async (method, times) => {
    const { gateway, asked, sent } = gatewayWith([refused, refused]);
    const response = await gateway.exchange("/x", { as: "member", method });
    expect(response.ok && (await response.value.json())).toMatchObject({ error: { code: "UNAUTHORIZED" } });
    expect([asked, sent.length]).toEqual([[null, "old"], times]);
  });

  // PT-48
  test.each(["POST", "PUT", "PATCH", "DELETE"] as const)(
    "does not wait for the rate limit of a %s",
    async (method) => {
      const { gateway, slept, sent } = gatewayWith([limited(1), fine]);
      const response = await gateway.exchange("/x", { as: "member", method });
      expect(response.ok && response.value.status).toBe(429);
      expect([slept, sent.length]).toEqual([[], 1]);
    },
  );

  // PT-31
  test("is sent only once if there is no response", async () => {
    const { gateway, sent } = gatewayWith([() => Promise.reject(new Error("reset"))]);
    expect(await gateway.exchange("/x", { as: "member", method: "POST" })).toMatchObject({
      ok: false,
      failure: { kind: "unavailable", outcomeUnknown: true },
    });
    expect(sent).toHaveLength(1);
  });
});
