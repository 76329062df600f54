/**
 * Tests that no request fails while every replica of a service is stopped and replaced under load. Clients
 * keep their connections and do not retry. Balancers in front of the replicas check readiness every 200 ms.
 */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { services, waitFor } from "../../../support/index.ts";
import { KeepAliveLoad } from "../../../support/load/keep-alive-load.ts";
import { type ReplicatedStack, startReplicatedStack } from "../../../support/processes/replicated-stack.ts";
import { SERVICES } from "../../../support/processes/stack.ts";
import { clientsOf, expectWholeEvents, JSON_TYPE } from "./load.ts";

setDefaultTimeout(600_000);

const isReal = services().etcd.real && services().postgres.real && services().redis.real;
const GRACE_MS = 1_500;

describe.skipIf(!isReal)("a rolling restart", () => {
  let stack: ReplicatedStack;
  let key = "";
  let jwt = "";
  let load: KeepAliveLoad | undefined;

  beforeAll(async () => {
    stack = await startReplicatedStack(
      { SHUTDOWN_GRACE_MS: String(GRACE_MS), LOG_LEVEL: "info" },
      // Without the cache, each request with a credential causes a call to identity.
      { APIKEY_CACHE_TTL_SECS: "0", RATE_LIMIT_REQUESTS: "1000000" },
    );
    jwt = await (await fetch(`${stack.identityProviderUrl}/token?subject=ada`)).text();
    key = await newKey();
  });
  afterAll(() => stack.close());
  afterEach(async () => {
    await load?.end();
    load = undefined;
  });

  /** Creates an organization, and returns an API key of its owner. */
  async function newKey(): Promise<string> {
    const person = { Authorization: `Bearer ${jwt}` };
    const { id } = await ask("POST", "/user/organizations", person, { name: "Acme" });
    const { token = "" } = await ask("POST", `/user/organizations/${id}/session`, person);
    const { key: made = "" } = await ask(
      "POST",
      "/member/api-keys",
      { "X-API-Key": token },
      { name: "load" },
    );
    return made;
  }

  async function ask(method: string, path: string, headers: Record<string, string>, body?: object) {
    const founded = async () => {
      const response = await fetch(stack.gateway.url + path, {
        method,
        headers: { ...headers, ...JSON_TYPE },
        body: body && JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return response.json();
    };
    const answer = await waitFor(founded, { timeoutMs: 90_000, what: path });
    return Object.fromEntries(Object.entries(Object(answer)).map(([name, value]) => [name, String(value)]));
  }

  function startLoad(): KeepAliveLoad {
    const { gateway, registry } = stack;
    const admin = { Authorization: `Bearer ${stack.adminToken}` };
    const probe = { url: "http://127.0.0.1:9", public: { routes: [{ path: "/probe", methods: ["GET"] }] } };
    const common = { clients: 4, pauseMsMax: 250 };
    return new KeepAliveLoad([
      ...clientsOf(gateway.url, key, jwt),
      // A client with a longer pause could miss the response that tells it to close its connection.
      { ...common, name: "rare", url: gateway.url, method: "GET", path: "/demo/hello", pauseMsMax: 700 },
      { ...common, name: "operator", url: registry.url, method: "GET", path: "/services", headers: admin },
      {
        ...common,
        name: "publisher",
        url: registry.url,
        method: "PUT",
        path: "/services/probe?wait_ms=5000",
        headers: { ...admin, ...JSON_TYPE },
        body: JSON.stringify(probe),
      },
    ]);
  }

  for (const service of SERVICES) {
    // OP-34
    test(`of ${service} fails no request, and every audited request has its event with an outcome`, async () => {
      load = startLoad();
      const running = load;
      await waitFor(() => running.least >= 10, { timeoutMs: 60_000, what: "the load to start" });
      expect(await stack[service].restart()).toEqual([0, 0]);
      const after = running.least;
      await waitFor(() => running.least >= after + 10, {
        timeoutMs: 60_000,
        what: "load after the restart",
      });
      await running.end();
      expect(failuresOf(running)).toEqual([]);
      await expectWholeEvents(stack.databaseUrl, running.answered.get("audited") ?? []);
    });
  }

  /**
   * Returns the failures that a restart must not cause, with their reasons from the logs. Ignores a single reset
   * connection: HTTP cannot prevent that a service closes a connection while a gateway starts to use it.
   */
  function failuresOf({ failures }: KeepAliveLoad): unknown[] {
    const lines = stack.gateway.all.flatMap((replica) => replica.logs());
    const reasons = new Map(lines.map((line) => [line.request_id, String(line.error_message)]));
    const told = failures.map((failure) => ({ ...failure, reason: reasons.get(failure.request_id) ?? "" }));
    const [reset, ...more] = told.filter(({ reason }) => reason.includes("ECONNRESET"));
    return more.length > 0 ? told : told.filter((each) => each !== reset);
  }
});
