/** Tests limits by plan, calendar quotas and several limits of one route, in a whole gateway. */
import { afterAll, describe, expect, test } from "bun:test";
import type { RouteRateLimit, StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { startGateways } from "../../support/gateway/gateway-process.ts";
import { member } from "../../support/gateway/identity-stand-in.ts";
import { READER, StepsBed, WRITER } from "../../support/gateway/steps-bed.ts";
import { freshCounterStoreUrl, services } from "../../support/index.ts";
import { useGateway } from "./bed.ts";

const HOUR = 3_600;

function limitedService(url: string): StoredServiceConfig {
  const rate_limits = {
    burst: { requests: 3, window_seconds: HOUR, plans: { pro: { requests: 5 }, enterprise: false } },
    quota: { requests: 4, period: "month" },
  } as const;
  const route = (path: string, rate_limit: RouteRateLimit) => ({
    path,
    methods: ["GET" as const],
    rate_limit,
  });
  const routes = [
    route("/burst", "burst"),
    route("/both", ["burst", "quota"]),
    route("/kind", { requests: 2, window_seconds: HOUR, charge: "success" }),
    route("/kind-too", [{ requests: 2, period: "day", charge: "success" }]),
  ];
  const labelled = { ...route("/kind-labelled", routes[2]?.rate_limit ?? false), required_labels: ["boss"] };
  return { url, rate_limits, organization: { routes: [...routes, labelled] } };
}

const bed = new StepsBed();
let answered: number;
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => new Response("answer", { status: answered }),
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

describe("a policy with plans", () => {
  // GW-180
  test("admits as many requests as the organization's plan allows", async () => {
    answered = 200;
    expect(await statuses(callerOf(), "/burst", 4)).toEqual([200, 200, 200, 429]);
    expect(await statuses(callerOf(null), "/burst", 4)).toEqual([200, 200, 200, 429]);
    expect(await statuses(callerOf("pro"), "/burst", 6)).toEqual([200, 200, 200, 200, 200, 429]);
    const call = callerOf("enterprise");
    expect(await statuses(call, "/burst", 9)).toEqual(Array(9).fill(200));
    expect((await call("/burst")).headers.get("x-ratelimit-limit")).toBeNull();
  });

  // GW-180
  test("applies a new plan from the next validation on, and keeps the count", async () => {
    answered = 200;
    const call = callerOf();
    expect(await statuses(call, "/burst", 4)).toEqual([200, 200, 200, 429]);
    const upgraded = await call("/burst", "pro");
    expect([upgraded.status, upgraded.headers.get("x-ratelimit-remaining")]).toEqual([200, "1"]);
  });
});

// GW-180, GW-181
test("a plan that changes under load applies to each request as a whole, and the quota counts all of them", async () => {
  answered = 200;
  const call = callerOf();
  const plans = [null, "pro", "enterprise"];
  const answers = await Promise.all(Array.from({ length: 90 }, (_, sent) => call("/both", plans[sent % 3])));
  for (const { headers } of answers) {
    const policies = headers.get("ratelimit-policy") ?? "";
    expect(policies).toMatch(/^(?:"burst";q=[35];w=3600, )?"quota";q=4;w=\d+$/);
    const namesIn = (text: string) => text.match(/"\w+"/g);
    expect(namesIn(headers.get("ratelimit") ?? "")).toEqual(namesIn(policies));
    expect(policies).toContain(`q=${headers.get("x-ratelimit-limit")};`);
  }
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(86);
});

describe("several limits", () => {
  // GW-181, GW-183, GW-184
  test("are shown in headers, and a 429 names the exhausted policy", async () => {
    answered = 200;
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

  // GW-71, GW-184
  test("are needed for RateLimit headers: a single limit has only X-RateLimit headers", async () => {
    await gateway.publish({
      simple: {
        url: `http://127.0.0.1:${upstream.port}`,
        public: {
          routes: [{ path: "/simple", methods: ["GET"], rate_limit: { requests: 1, window_seconds: HOUR } }],
        },
      },
    });
    const { headers } = await fetch(`${gateway.url}/simple`);
    expect(headers.get("x-ratelimit-limit")).toBe("1");
    expect(headers.get("ratelimit-policy")).toBeNull();
    const refused = await fetch(`${gateway.url}/simple`);
    expect(JSON.parse(await refused.text()).error.details.policy).toBeNull();
  });
});

// GW-185
describe.each(["/kind", "/kind-too"])("with charge=success, %s", (path) => {
  test("does not count a 5xx, but counts a 4xx", async () => {
    const call = callerOf(null, READER);
    answered = 503;
    expect(await statuses(call, path, 5)).toEqual(Array(5).fill(503));
    answered = 404;
    expect(await statuses(call, path, 3)).toEqual([404, 404, 429]);
  });
});

// GW-3, GW-185
test("with charge=success, a 403 counts although it reaches no service", async () => {
  answered = 200;
  expect(await statuses(callerOf(null, READER), "/kind-labelled", 3)).toEqual([403, 403, 429]);
});

const { redis, etcd } = services();

// GW-70, GW-181
describe.skipIf(!redis.real || !etcd.real)("two gateways on one counter store", () => {
  test("apply the smallest of three limits exactly to 600 requests at once, and charge only admitted ones", async () => {
    answered = 200;
    const url = `http://127.0.0.1:${upstream.port}`;
    const rate_limits = {
      month: { requests: 100, period: "month", shared: true },
      hour: { requests: 45, window_seconds: HOUR },
    } as const;
    const gateways = await startGateways({
      replicas: 2,
      services: {
        limited: {
          url,
          rate_limits,
          public: {
            routes: [
              {
                path: "/all",
                methods: ["GET"],
                rate_limit: ["month", "hour", { requests: 400, period: "day" }],
              },
              { path: "/month", methods: ["GET"], rate_limit: "month" },
            ],
          },
        },
      },
      env: { COUNTER_STORE_URL: await freshCounterStoreUrl() },
    });
    const call = async (path: string, index: number) => {
      const response = await fetch(`${gateways[index % 2]?.url}${path}`);
      await response.text();
      return response;
    };
    const answers = await Promise.all(Array.from({ length: 600 }, (_, index) => call("/all", index)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(45);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(555);
    const { headers } = await call("/month", 0);
    expect(headers.get("x-ratelimit-remaining")).toBe("54");
    await Promise.all(gateways.map((each) => each.stop()));
  }, 60_000);
});
