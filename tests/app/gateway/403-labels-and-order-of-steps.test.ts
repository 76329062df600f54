/** Tests the order of the nine steps that each request goes through (GW-1). */
import { describe, expect, test } from "bun:test";
import { startLocalGateway } from "../../support/gateway/gateway.ts";
import {
  codeOf,
  ELSEWHERE,
  EVERYTHING,
  HOSTILE,
  LABELLESS,
  READER,
  StepsBed,
  services,
  UNKNOWN,
  USER,
  WRITER,
} from "../../support/gateway/steps-bed.ts";
import { headerValue, headerValues, rawRequest, spell } from "../../support/http/raw-http.ts";
import { waitFor } from "../../support/index.ts";
import { useBed } from "./bed.ts";

const bed = useBed(new StepsBed());
const { service, audit } = bed;
const call = bed.call.bind(bed);

// GW-80
describe("the path that the service gets has the owner's ids:", () => {
  const table: [target: string, called: string, credential: string][] = [
    ["/user/things/7?a=b", "/users/u1/things/7?a=b", USER],
    ["/org/things", "/organizations/org1/things", WRITER],
    ["/member/things", "/organizations/org1/members/m1/things", WRITER],
  ];
  test.each(table)("%s → %s", async (target, called, credential) => {
    expect((await call("GET", target, credential)).status).toBe(200);
    expect(service.request.target).toBe(called);
  });

  // GW-81
  test("500 for an owner's id that is not a single path segment, and the service is not called", async () => {
    for (const target of ["/org/things", "/member/things"]) {
      const response = await call("GET", target, HOSTILE);
      expect(response.status).toBe(500);
      expect(JSON.parse(response.body.toString())).toMatchObject({
        error: {
          type: "api_error",
          code: "INTERNAL_ERROR",
          message: "An unexpected error occurred.",
          details: null,
        },
      });
    }
    expect(service.requests).toEqual([]);
  });
});

// GW-76
describe("a member needs one label of the route, or *:", () => {
  const table: [status: number, name: string, credential: string][] = [
    [200, "one of the labels", WRITER],
    [200, "*", EVERYTHING],
    [403, "other labels", READER],
    [403, "a missing list", LABELLESS],
  ];
  test.each(table)("%i for a member with %s", async (status, _, credential) => {
    const response = await call("GET", "/org/labelled/1", credential);
    expect(response.status).toBe(status);
    expect(service.requests.length).toBe(status === 200 ? 1 : 0);
  });

  // GW-78
  test("403 names the route and its labels", async () => {
    const response = await call("GET", "/org/labelled/1", READER);
    expect(JSON.parse(response.body.toString())).toEqual({
      error: {
        type: "invalid_request_error",
        code: "FORBIDDEN",
        message: "You do not have permission to do that.",
        request_id: headerValue(response.headers, "x-request-id"),
        details: {
          permission: "required_labels",
          resource: "route",
          resource_id: "/org/labelled/{id}",
          required_labels: ["things:write", "admin"],
        },
      },
    });
  });
});

// GW-1, GW-4
describe("401 comes before all later steps:", () => {
  const table: [name: string, target: string, credential: string | null][] = [
    ["no credential", "/org/things", null],
    ["a malformed key", "/org/things", "nonsense"],
    ["an unknown key", "/org/things", UNKNOWN],
    ["a user's key on an organization route", "/org/things", USER],
    ["a member's key on a user route", "/user/things/1", WRITER],
    ["an invalid param, which a later step would refuse", "/org/param/a%2fb", null],
  ];
  test.each(table)("%s", async (_, target, credential) => {
    const response = await call("POST", target, credential);
    expect(response.status).toBe(401);
    expect(codeOf(response)).toBe("UNAUTHORIZED");
    expect(headerValues(response.headers, "x-ratelimit-limit")).toEqual([]);
    expect(service.requests).toEqual([]);
    expect(audit.writes).toEqual([]);
  });
});

// GW-1, GW-3, GW-71
test("the rate limit comes before the labels: a 403 is counted and has rate-limit headers", async () => {
  const statuses: number[] = [];
  for (let request = 0; request < 3; request++) {
    const response = await call("GET", "/org/limited", READER);
    statuses.push(response.status);
    expect(headerValue(response.headers, "x-ratelimit-limit")).toBe("2");
    expect(headerValue(response.headers, "x-ratelimit-remaining")).toBe(String(Math.max(0, 1 - request)));
    const reset = Number(headerValue(response.headers, "x-ratelimit-reset"));
    expect(reset).toBeGreaterThan(Date.now() / 1000);
    expect(reset).toBeLessThanOrEqual(Date.now() / 1000 + 61);
  }
  expect(statuses).toEqual([403, 403, 429]);
});

// GW-4, GW-72
test("429 has Retry-After and details, and is not audited", async () => {
  let response = await call("GET", "/org/limited", ELSEWHERE);
  while (response.status !== 429) response = await call("GET", "/org/limited", ELSEWHERE);
  const retry = Number(headerValue(response.headers, "retry-after"));
  expect(retry).toBeGreaterThanOrEqual(1);
  expect(JSON.parse(response.body.toString()).error).toEqual({
    type: "api_error",
    code: "RATE_LIMITED",
    message: "Too many requests. Try again in a moment.",
    request_id: headerValue(response.headers, "x-request-id"),
    details: { retry_after_seconds: retry, policy: "two" },
  });
  expect(audit.writes).toEqual([]);
});

// GW-74, GW-75
test("too many 404s and 401s of one client address become 429; admitted requests never do", async () => {
  await using strict = await startLocalGateway({
    CREDENTIAL_VALIDATE_URL: bed.identity.url,
    RATE_LIMIT_AUTH_FAILURE_REQUESTS: "2",
  });
  await strict.routes.put("edge/gateway/routes/things", JSON.stringify(services(service.url).things));
  const ask = (target: string, credential: string) =>
    rawRequest(strict.url, spell("GET", target, { "X-API-Key": credential }));
  await waitFor(async () => (await ask("/org/things", WRITER)).status === 200);
  // 404s from the time before the routes were loaded count too, so the number of 404s before the 429 varies.
  const refused = await waitFor(async () => {
    const response = await ask("/nowhere", WRITER);
    return response.status === 429 && response;
  });
  expect(Number(headerValue(refused.headers, "retry-after"))).toBeGreaterThanOrEqual(1);
  expect(refused.headers.filter(([name]) => /x-ratelimit/i.test(name))).toEqual([]);
  expect((await ask("/org/things", "nonsense")).status).toBe(429);
  expect((await ask("/org/things", WRITER)).status).toBe(200);
});
