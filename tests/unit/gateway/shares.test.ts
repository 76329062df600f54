/** Tests of how many requests in flight a caller, or the address of a service, may have in a crowded gateway. */
import { describe, expect, test } from "bun:test";
import { ApiError } from "@ostiary/lib/domain/errors";
import { compileService } from "@ostiary/lib/domain/routes";
import type { Principal } from "../../../apps/gateway/admission/principal.ts";
import { type SharedRequest, Shares } from "../../../apps/gateway/edge/shares.ts";
import { thrownBy } from "../../support/thrown.ts";
import { serviceWith, stored } from "../routes/fixtures.ts";
import { memberPrincipal } from "./ended-request.ts";

const requestOf = (who: Partial<Principal> | null, address = "widgets:80"): SharedRequest => ({
  principal: who && memberPrincipal({ organization_id: null, member_id: null, ...who }),
  route: { address },
  isShared: false,
});

const refusalOf = (shares: Shares, request: SharedRequest) => thrownBy(ApiError, () => shares.claim(request));

// GW-167
describe("a caller", () => {
  test("may have an eighth of the maximum requests in flight, and gets 429 for more until one ends", () => {
    const shares = new Shares(40);
    const held = Array.from({ length: 5 }, () => requestOf({ organization_id: "o1" }));
    for (const request of held) expect(refusalOf(shares, request)).toBeNull();
    const refused = requestOf({ organization_id: "o1" });
    expect(refusalOf(shares, refused)).toMatchObject({
      status: 429,
      code: "RATE_LIMITED",
      message: "Too many of your requests are in flight. Try again in a moment.",
      details: { retry_after_seconds: 1 },
      headers: { "Retry-After": "1", Connection: "close" },
    });
    expect([shares.refused, refused.isShared]).toEqual([1, false]);
    const [first] = held;
    if (first) shares.release(first);
    expect(refusalOf(shares, refused)).toBeNull();
  });

  test("is an organization with all its members, or a person; each caller has a separate share", () => {
    const shares = new Shares(8);
    expect(refusalOf(shares, requestOf({ organization_id: "o1", member_id: "m1" }))).toBeNull();
    expect(refusalOf(shares, requestOf({ organization_id: "o1", member_id: "m2" }))?.status).toBe(429);
    expect(refusalOf(shares, requestOf({ organization_id: "o2", member_id: "m3" }))).toBeNull();
    expect(refusalOf(shares, requestOf({ user_id: "u1" }))).toBeNull();
    expect(refusalOf(shares, requestOf({ user_id: "u1" }))?.status).toBe(429);
  });

  test("whose id is the address of a service shares nothing with it", () => {
    const shares = new Shares(8);
    expect(refusalOf(shares, requestOf({ user_id: "widgets:80" }))).toBeNull();
    expect(refusalOf(shares, requestOf(null, "widgets:80"))).toBeNull();
  });

  test("may have one request in flight on a small gateway", () => {
    const shares = new Shares(1);
    expect(refusalOf(shares, requestOf({ user_id: "u1" }))).toBeNull();
  });

  test("releases each request only once", () => {
    const shares = new Shares(16);
    const [first, second] = [requestOf({ user_id: "u1" }), requestOf({ user_id: "u1" })];
    shares.claim(first);
    shares.claim(second);
    shares.release(first);
    shares.release(first);
    expect(refusalOf(shares, requestOf({ user_id: "u1" }))).toBeNull();
    expect(refusalOf(shares, requestOf({ user_id: "u1" }))?.status).toBe(429);
  });
});

// GW-233
describe("the public routes of an address", () => {
  test("may have an eighth of the maximum requests in flight, and get 503 for more until one ends", () => {
    const shares = new Shares(16);
    const [first, second] = [requestOf(null), requestOf(null)];
    for (const request of [first, second]) expect(refusalOf(shares, request)).toBeNull();
    const refused = requestOf(null);
    expect(refusalOf(shares, refused)).toMatchObject({
      status: 503,
      code: "SERVICE_UNAVAILABLE",
      headers: { "Retry-After": "1", Connection: "close" },
    });
    expect([shares.refused, shares.refusedForServices, refused.isShared]).toEqual([0, 1, false]);
    expect(refusalOf(shares, requestOf(null, "gadgets:80"))).toBeNull();
    expect(refusalOf(shares, requestOf({ user_id: "u1" }))).toBeNull();
    shares.release(first);
    shares.release(first);
    expect(refusalOf(shares, refused)).toBeNull();
    expect(refusalOf(shares, requestOf(null))?.status).toBe(503);
  });
});

// GW-233, GW-234
test.each([
  ["localhost:80", ["LocalHost:80", "localhost.:80", "127.0.0.1:80", "[::ffff:127.0.0.1]:80", "[::1]:80"]],
  ["widgets:80", ["WIDGETS:80", "widgets.:80"]],
  ["[2001:db8::1]:80", ["[2001:0db8:0::1]:80", "[2001:DB8::1]:80"]],
  ["192.0.2.1:80", ["[::ffff:c000:201]:80"]],
])("the spellings of the address %s have one share", (first, others) => {
  const shares = new Shares(8);
  const requestTo = (address: string) => {
    const service = serviceWith("public", [{ path: "/r", methods: ["GET"] }]);
    const [route] = compileService("widgets", stored({ ...service, url: `http://${address}` }));
    if (route === undefined) throw new Error("The service has no route.");
    return { principal: null, route, isShared: false };
  };
  expect(refusalOf(shares, requestTo(first))).toBeNull();
  for (const other of others) expect(refusalOf(shares, requestTo(other))?.status).toBe(503);
  expect(refusalOf(shares, requestTo("gadgets:80"))).toBeNull();
});

// GW-234
test("an address may have three eighths of the maximum requests in flight for all callers, and gets 503 for more", () => {
  const shares = new Shares(16);
  const callers = ["u1", "u2", "u3", "u4"].map((user_id) => ({ user_id }));
  const held = callers.slice(0, 3).flatMap((caller) => [requestOf(caller), requestOf(caller)]);
  for (const request of held) expect(refusalOf(shares, request)).toBeNull();
  for (const caller of [null, { user_id: "u4" }]) {
    expect(refusalOf(shares, requestOf(caller))).toMatchObject({
      status: 503,
      headers: { "Retry-After": "1" },
    });
  }
  expect(refusalOf(shares, requestOf({ user_id: "u1" }))?.status).toBe(429);
  for (const caller of [null, null, { user_id: "u4" }, { user_id: "u4" }]) {
    expect(refusalOf(shares, requestOf(caller, "gadgets:80"))).toBeNull();
  }
  for (const request of held) shares.release(request);
  for (const caller of [null, { user_id: "u1" }]) expect(refusalOf(shares, requestOf(caller))).toBeNull();
});
