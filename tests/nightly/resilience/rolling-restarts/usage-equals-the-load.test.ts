import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { services, waitFor } from "../../../support/index.ts";
import { KeepAliveLoad } from "../../../support/load/keep-alive-load.ts";
import { type ReplicatedStack, startReplicatedStack } from "../../../support/processes/replicated-stack.ts";

setDefaultTimeout(600_000);

const isReal = services().etcd.own && services().postgres.real && services().redis.real;
const ROUTE = "demo GET /demo/things/{thing_id}";

describe.skipIf(!isReal)("the usage of an organization", () => {
  let stack: ReplicatedStack;
  let key = "";
  let session = "";

  beforeAll(async () => {
    stack = await startReplicatedStack(
      { SHUTDOWN_GRACE_MS: "1500", LOG_LEVEL: "info" },
      { RATE_LIMIT_REQUESTS: "1000000" },
    );
    const jwt = await (await fetch(`${stack.identityProviderUrl}/token?subject=ada`)).text();
    const person = { Authorization: `Bearer ${jwt}` };
    const { id } = await ask("POST", "/user/organizations", person, { name: "Acme" });
    const { token = "" } = await ask("POST", `/user/organizations/${id}/session`, person);
    session = token;
    const made = await ask("POST", "/member/api-keys", { "X-API-Key": session }, { name: "load" });
    key = made.key ?? "";
  });
  afterAll(() => stack.close());

  async function ask(method: string, path: string, headers: Record<string, string>, body?: object) {
    const founded = async () => {
      const response = await fetch(stack.gateway.url + path, {
        method,
        headers: { ...headers, "Content-Type": "application/json" },
        body: body && JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return response.json();
    };
    const answer = await waitFor(founded, { timeoutMs: 90_000, what: path });
    return Object.fromEntries(Object.entries(Object(answer)).map(([name, value]) => [name, String(value)]));
  }

  /** Returns the number of requests of the load's route in the organization's usage report. */
  async function used(): Promise<number> {
    const from = new Date(Date.now() - 24 * 3_600_000).toISOString();
    const response = await fetch(`${stack.gateway.url}/org/usage?by=route&from=${from}`, {
      headers: { "X-API-Key": session },
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    const { usage }: { usage: { id: string; requests: number }[] } = JSON.parse(await response.text());
    return usage.find(({ id }) => id === ROUTE)?.requests ?? 0;
  }

  // GW-188, GW-190, AU-120, AU-72
  test("equals its requests although audit is killed and two gateways restart", async () => {
    const load = new KeepAliveLoad([
      {
        name: "key",
        url: stack.gateway.url,
        clients: 8,
        pauseMsMax: 60,
        method: "GET",
        path: "/demo/things/1",
        headers: { "X-API-Key": key },
      },
    ]);
    await waitFor(() => load.least >= 100, { timeoutMs: 60_000, what: "the load to start" });
    await Promise.all(stack.audit.all.map((replica) => replica.kill()));
    const killedAt = load.least;
    await waitFor(() => load.least >= killedAt + 100, { timeoutMs: 60_000, what: "load without audit" });
    await stack.audit.restart();
    await stack.gateway.restart();
    const restartedAt = load.least;
    await waitFor(() => load.least >= restartedAt + 100, {
      timeoutMs: 60_000,
      what: "load after restarts",
    });
    await load.end();
    // A gateway reports its remaining usage when it stops.
    await stack.gateway.restart();
    const answered = load.least;
    const counted = await waitFor(
      async () => {
        const requests = await used();
        return requests >= answered ? requests : null;
      },
      { timeoutMs: 60_000, what: "the usage" },
    );
    // A failed request may have reached a gateway or not, so it may be counted or not.
    expect(counted - answered).toBeLessThanOrEqual(load.failures.length);
    expect(load.failures.length).toBeLessThanOrEqual(2);
  });
});
