/** Tests of how a gateway counts usage (GW-186, GW-187), and of the maximum number of counts (GW-189). */
import { describe, expect, test } from "bun:test";
import { ApiError } from "@ostiary/lib/domain/errors";
import fc from "fast-check";
import { badGateway, ClientGone } from "../../../apps/gateway/upstream/call.ts";
import { type EndedRequest, UsageCounter } from "../../../apps/gateway/usage/counter.ts";
import { endedRequest, memberPrincipal } from "./ended-request.ts";

const HOUR_MS = 3_600_000;
const AT = Date.parse("2026-03-04T05:10:00.000Z");

const requestsIn = (counter: UsageCounter) =>
  counter.take(Number.POSITIVE_INFINITY).reduce((sum, { requests }) => sum + requests, 0);

// GW-186
test("a request adds to the count of its organization, hour, route and key", () => {
  const counter = new UsageCounter();
  const caller = memberPrincipal();
  for (let n = 0; n < 3; n++) counter.count(endedRequest({ principal: caller }), 200, null, 1.4);
  counter.count(endedRequest(), 404, null, 1);
  expect(counter.take(10)).toEqual([
    {
      organization_id: "o1",
      hour: "2026-03-04T05:00:00.000Z",
      service: "widgets",
      route: "/org/widgets",
      method: "GET",
      member_id: "m1",
      key_prefix: "acme-k-2-abcd",
      requests: 4,
      refused: { limit: 0, labels: 0, other: 0 },
      failed: 0,
      bytes_in: 40,
      bytes_out: 400,
      duration_ms: 5,
    },
  ]);
  expect(counter.take(10)).toEqual([]);
});

// GW-187
describe("a request that ends", () => {
  const limit = new ApiError("RATE_LIMITED");
  const unread = new ApiError("PAYLOAD_TOO_LARGE");
  const refused = (reason: "limit" | "labels" | "other") => ({
    failed: 0,
    refused: { limit: 0, labels: 0, other: 0, [reason]: 1 },
  });
  const failed = { failed: 1, refused: { limit: 0, labels: 0, other: 0 } };
  const neither = { failed: 0, refused: { limit: 0, labels: 0, other: 0 } };
  const table: [string, Partial<EndedRequest>, number | null, Error | null, object][] = [
    ["the 429 of a limit", { forwarded: false }, 429, limit, refused("limit")],
    ["the 403 for missing labels", { forwarded: false }, 403, new ApiError("FORBIDDEN"), refused("labels")],
    ["a 400 of the gateway", { forwarded: false }, 400, new ApiError("INVALID_REQUEST"), refused("other")],
    ["a gateway's 503", { forwarded: false }, 503, new ApiError("SERVICE_UNAVAILABLE"), refused("other")],
    ["the service's 500", {}, 500, null, failed],
    ["a 500 of the gateway during the call", {}, 500, new ApiError("INTERNAL_ERROR"), failed],
    ["the service's 403", {}, 403, null, neither],
    ["a 502", {}, 502, badGateway("x"), failed],
    ["a response body that breaks off", {}, 200, badGateway("x"), failed],
    ["a 413 during the call of the service", {}, 413, unread, neither],
    ["a client that disconnects", {}, null, null, neither],
    ["a client that disconnects during the response", {}, 200, new ClientGone(), neither],
  ];
  for (const [name, changes, status, failure, expected] of table) {
    test(`with ${name} counts as ${JSON.stringify(expected)}`, () => {
      const counter = new UsageCounter();
      counter.count(endedRequest(changes), status, failure, 1);
      expect(counter.take(1)).toMatchObject([{ requests: 1, ...expected }]);
    });
  }
});

// GW-186
test("a request counts in the hour in which it arrived, in whatever order requests end", () => {
  const counter = new UsageCounter();
  const startMs = Date.parse("2026-03-04T05:00:00.000Z");
  for (const hours of [0, 1, 0, 2 - 1 / HOUR_MS, 2]) {
    counter.count(endedRequest({ receivedAtMs: startMs + hours * HOUR_MS }), 200, null, 1);
  }
  const counts = counter.take(10).map(({ hour, requests }) => [hour, requests]);
  expect(counts.sort()).toEqual([
    ["2026-03-04T05:00:00.000Z", 2],
    ["2026-03-04T06:00:00.000Z", 2],
    ["2026-03-04T07:00:00.000Z", 1],
  ]);
});

// GW-186
test("a session counts only for its member, and ids may have 128 characters", () => {
  const counter = new UsageCounter();
  const ids = { organization_id: "o".repeat(128), member_id: "m".repeat(128) };
  const principal = memberPrincipal({ ...ids, auth_type: "member_session", key_prefix: "acme-s-2-abcd" });
  counter.count(endedRequest({ principal }), 200, null, 1);
  expect(counter.take(10)).toMatchObject([{ ...ids, key_prefix: null, requests: 1 }]);
});

// GW-186
test("requests of people outside organizations and requests without a principal are not counted", () => {
  const counter = new UsageCounter();
  counter.count(endedRequest({ principal: null }), 200, null, 1);
  const person = memberPrincipal({ organization_id: null, member_id: null, user_id: "u1", auth_type: "jwt" });
  counter.count(endedRequest({ principal: person }), 200, null, 1);
  expect(counter.take(10)).toEqual([]);
  expect(counter.uncounted).toBe(0);
});

describe("the maximum number of counts", () => {
  // GW-189
  test("requests with equal principals are added to one count, even if no cache keeps the principal", () => {
    const counter = new UsageCounter();
    for (let n = 0; n < 20_000; n++) counter.count(endedRequest(), 200, null, 1);
    expect(counter.waiting).toBeLessThanOrEqual(4_097);
    expect(counter.take(10)).toMatchObject([{ requests: 20_000 }]);
  });

  // GW-189
  test("exactly as many counts wait as the maximum, and further requests of these are counted", () => {
    const counter = new UsageCounter(2);
    const count = (organization_id: string) => {
      counter.count(endedRequest({ principal: memberPrincipal({ organization_id }) }), 200, null, 1);
    };
    for (const id of ["a", "b", "c", "a", "d"]) count(id);
    const taken = counter.take(10).map(({ organization_id, requests }) => [organization_id, requests]);
    expect(taken).toEqual([
      ["a", 2],
      ["b", 1],
    ]);
    expect(counter.uncounted).toBe(2);
  });

  // GW-189
  test("requests over the maximum are reported as uncounted, and every request is reported once", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.tuple(fc.nat(12), fc.nat(2), fc.nat(2)), { maxLength: 60 }),
        (max, given) => {
          const counter = new UsageCounter(max);
          let taken = 0;
          for (const [organization, hour, act] of given) {
            const caller = memberPrincipal({ organization_id: `o${organization}` });
            counter.count(
              endedRequest({ principal: caller, receivedAtMs: AT + hour * HOUR_MS }),
              200,
              null,
              1,
            );
            if (act === 0) taken += counter.take(2).reduce((sum, { requests }) => sum + requests, 0);
          }
          taken += requestsIn(counter);
          expect(taken + counter.uncounted).toBe(given.length);
          expect(counter.takeUncounted()).toBe(counter.uncounted);
          expect(counter.takeUncounted()).toBe(0);
        },
      ),
    );
  });

  // GW-189
  test("requests with ids that the audit service refuses are uncounted, and no report contains the ids", () => {
    const counter = new UsageCounter();
    for (const id of ["", "x".repeat(129), "a\u0000b", "\ud800", "\ufffe"]) {
      counter.count(endedRequest({ principal: memberPrincipal({ organization_id: id }) }), 200, null, 1);
      counter.count(endedRequest({ principal: memberPrincipal({ member_id: id }) }), 200, null, 1);
    }
    expect(counter.take(10)).toEqual([]);
    expect(counter.uncounted).toBe(10);
  });
});
