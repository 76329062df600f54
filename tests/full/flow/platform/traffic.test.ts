import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { MIX, Traffic } from "@ostiary/demo";
import { waitFor } from "../../../support/index.ts";
import { type Stack, startStack } from "../../../support/processes/stack.ts";
import { ROOT } from "../../../support/root.ts";

setDefaultTimeout(60_000);

const MAIN = "apps/demo/traffic/main.ts";

type Answers = Record<string, Record<string, number>>;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ RATE_LIMIT_REQUESTS: "0", RATE_LIMIT_AUTH_FAILURE_REQUESTS: "0" });
});
afterAll(async () => {
  await stack?.close();
});

/** Starts the traffic generator. Its `stop` returns the counted responses; `troubles` collects its errors. */
function startTraffic(gatewayUrl: string, rate: number) {
  let answers: Answers = {};
  const troubles: string[] = [];
  const traffic = new Traffic({
    gatewayUrl,
    identityProviderUrl: stack.identityProviderUrl,
    rate,
    onReport: (counts) => {
      answers = counts;
    },
    onTrouble: (error) => troubles.push(String(error)),
  });
  traffic.start();
  return {
    troubles,
    async stop() {
      await traffic.stop();
      return answers;
    },
  };
}

const completed = () =>
  stack.gateway
    .logs()
    .filter(({ message }) => message === "request completed" || message === "request failed");

test("the traffic contains every kind of request, with the expected statuses", async () => {
  const statuses: Record<string, string[]> = {
    limited: ["200", "429"],
    401: ["401"],
    403: ["403"],
    404: ["404"],
  };
  const traffic = startTraffic(stack.gateway.url, 150);
  await waitFor(() => completed().length > 900, { timeoutMs: 50_000, what: "900 requests" });
  const answers = await traffic.stop();
  expect(Object.keys(answers).toSorted()).toEqual(MIX.map(({ name }) => name).toSorted());
  for (const [name, counts] of Object.entries(answers)) {
    const expected = statuses[name] ?? ["200"];
    // A busy machine can cause 5xx responses. `none` counts the requests in flight when the traffic stops.
    const seen = Object.keys(counts).filter((status) => !/^(none|5..)$/.test(status));
    expect([name, seen.filter((status) => !expected.includes(status))]).toEqual([name, []]);
    expect([name, seen.length > 0]).toEqual([name, true]);
  }
  expect(traffic.troubles).toEqual([]);
});

test.each([
  [{ GATEWAY_URL: "balancer" }, "GATEWAY_URL must be http"],
  [{ GATEWAY_URL: "ftp://balancer:1" }, "GATEWAY_URL must be http"],
  [{ TRAFFIC_RATE: "0" }, "TRAFFIC_RATE must be a whole number from 1 to 2000"],
  [{ TRAFFIC_RATE: "many", IDENTITY_PROVIDER_URL: "x" }, "IDENTITY_PROVIDER_URL must be http"],
])("the traffic exits with 78 for the environment %p", (env, message) => {
  const { PATH = "" } = process.env;
  const ended = Bun.spawnSync(["bun", MAIN], { cwd: ROOT, env: { PATH, ...env } });
  expect(ended.exitCode).toBe(78);
  expect(`${ended.stderr}`).toContain(message);
});
