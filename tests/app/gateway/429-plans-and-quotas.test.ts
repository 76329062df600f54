/** Tests limits by plan, calendar quotas and several limits of one route, in a whole gateway. */
import { afterAll, describe, expect, test } from "bun:test";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { member } from "../../support/gateway/identity-stand-in.ts";
import { StepsBed, WRITER } from "../../support/gateway/steps-bed.ts";
import { useGateway } from "./bed.ts";

const HOUR = 3_600;

function limitedService(url: string): StoredServiceConfig {
  const rate_limits = {
    burst: { requests: 3, window_seconds: HOUR, plans: { pro: { requests: 5 }, enterprise: false } },
    quota: { requests: 4, period: "month" },
  } as const;
  const routes = [{ path: "/both", methods: ["GET" as const], rate_limit: ["burst", "quota"] }];
  return { url, rate_limits, organization: { routes } };
}

const bed = new StepsBed();
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => new Response("response"),
});

const gateway = useGateway({ ...bed.env, APIKEY_CACHE_TTL_SECS: "0" }, () => ({
  limited: limitedService(`http://127.0.0.1:${upstream.port}`),
}));
afterAll(async () => {
  await bed.stop();
  bed.service.close();
  await upstream.stop(true);
});

let organizations = 0;
/**
 * Returns a function that sends a request as a member of a new organization. `plan` is the plan of the
 * organization, unless a call gives another plan.
 */
function callerOf(plan?: string | null, key = WRITER) {
  const organization_id = `org-${++organizations}`;
  return async (path: string, newPlan = plan) => {
    bed.identity.results.set(key, member({ organization_id, plan: newPlan }));
    return fetch(`${gateway.url}${path}`, { headers: { "X-API-Key": key } });
  };
}

async function statuses(call: (path: string) => Promise<Response>, path: string, count: number) {
  const all: number[] = [];
  for (let sent = 0; sent < count; sent += 1) all.push((await call(path)).status);
  return all;
}

// GW-180, GW-181
test("a plan that changes under load applies to each request as a whole, and the quota counts all of them", async () => {
  const call = callerOf();
  const plans = [null, "pro", "enterprise"];
  const responses = await Promise.all(
    Array.from({ length: 90 }, (_, sent) => call("/both", plans[sent % 3])),
  );
  for (const { headers } of responses) {
    const policies = headers.get("ratelimit-policy") ?? "";
    expect(policies).toMatch(/^(?:"burst";q=[35];w=3600, )?"quota";q=4;w=\d+$/);
    const namesIn = (text: string) => text.match(/"\w+"/g);
    expect(namesIn(headers.get("ratelimit") ?? "")).toEqual(namesIn(policies));
    expect(policies).toContain(`q=${headers.get("x-ratelimit-limit")};`);
  }
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(4);
  expect(responses.filter(({ status }) => status === 429)).toHaveLength(86);
});

describe("several limits", () => {
  // GW-181, GW-183, GW-184
  test("are shown in headers, and a 429 names the exhausted policy", async () => {
    const call = callerOf();
    const first = await call("/both");
    expect(first.headers.get("x-ratelimit-limit")).toBe("3");
    expect(first.headers.get("ratelimit-policy")).toMatch(/^"burst";q=3;w=3600, "quota";q=4;w=2[4-6]\d+$/);
    expect(first.headers.get("ratelimit")).toMatch(/^"burst";r=2;t=3600, "quota";r=3;t=\d+$/);
    expect(await statuses(call, "/both", 3)).toEqual([200, 200, 429]);
    const refused = await call("/both");
    const { error } = JSON.parse(await refused.text());
    expect(error.details).toEqual({ retry_after_seconds: expect.any(Number), policy: "burst" });
    expect(refused.headers.get("retry-after")).toBe(String(error.details.retry_after_seconds));
    const { headers } = await call("/both", "enterprise");
    expect([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual(["4", "0"]);
    expect(headers.get("ratelimit-policy")).toStartWith('"quota"');
  });
});
