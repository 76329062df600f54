import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startGateways } from "../../../support/gateway/gateway-process.ts";
import { freshCounterStoreUrl, type RunningProcess, services } from "../../../support/index.ts";

const REPLICAS = 4;
const REQUESTS = 1_000;
const LIMIT = 100;
const WINDOW_SECONDS = 3_600;
const START_TIMEOUT_MS = 30_000;

const { redis, etcd } = services();

// GW-69, GW-70
describe.skipIf(!redis.real || !etcd.real)(`${REPLICAS} gateways on one counter store`, () => {
  const upstream = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") });
  let gateways: RunningProcess[] = [];

  beforeAll(async () => {
    const limit = { requests: LIMIT, window_seconds: WINDOW_SECONDS };
    gateways = await startGateways({
      replicas: REPLICAS,
      services: {
        widgets: {
          url: `http://127.0.0.1:${upstream.port}`,
          rate_limits: { burst: limit, common: { ...limit, shared: true } },
          public: {
            routes: [
              { path: "/inline", methods: ["GET"], rate_limit: limit },
              { path: "/local", methods: ["GET"], rate_limit: "burst" },
              { path: "/common", methods: ["GET"], rate_limit: "common" },
              { path: "/inherited", methods: ["GET"] },
            ],
          },
        },
      },
      env: {
        COUNTER_STORE_URL: await freshCounterStoreUrl(),
        RATE_LIMIT_REQUESTS: String(LIMIT),
        RATE_LIMIT_WINDOW_SECONDS: String(WINDOW_SECONDS),
      },
    });
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await upstream.stop(true);
  });

  test.each(["/inline", "/local", "/common", "/inherited"])(
    `admit exactly ${LIMIT} of ${REQUESTS} concurrent requests to %s`,
    async (path) => {
      const before = Math.floor(Date.now() / 1000);
      const responses = await requestAtOnce(path);
      const after = Math.ceil(Date.now() / 1000);
      const admitted = responses.filter(({ status }) => status === 200);
      const refused = responses.filter(({ status }) => status === 429);
      expect(admitted).toHaveLength(LIMIT);
      expect(refused).toHaveLength(REQUESTS - LIMIT);

      const remaining = admitted.map((response) => Number(response.remaining)).sort((a, b) => a - b);
      expect(remaining).toEqual(Array.from({ length: LIMIT }, (_, at) => at));
      expect(new Set(refused.map((response) => response.remaining))).toEqual(new Set(["0"]));
      expect(new Set(responses.map((response) => response.limit))).toEqual(new Set([String(LIMIT)]));
      for (const { reset, retry_after } of refused) {
        expect(Number(reset)).toBeWithin(before + WINDOW_SECONDS, after + WINDOW_SECONDS + 1);
        expect(Number(retry_after)).toBeWithin(1, WINDOW_SECONDS + 1);
      }
      expect(new Set(admitted.map((response) => response.retry_after))).toEqual(new Set([null]));
    },
  );

  function requestAtOnce(path: string) {
    return Promise.all(
      Array.from({ length: REQUESTS }, async (_, index) => {
        const { status, headers } = await fetch(`${gateways[index % REPLICAS]?.url}${path}`);
        return {
          status,
          limit: headers.get("x-ratelimit-limit"),
          remaining: headers.get("x-ratelimit-remaining"),
          reset: headers.get("x-ratelimit-reset"),
          retry_after: headers.get("retry-after"),
        };
      }),
    );
  }
});
