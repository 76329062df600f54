import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  freshDatabase,
  freshRouteStoreUrl,
  type RunningProcess,
  services,
  startProcess,
} from "../../support/index.ts";
import { documentedOperations, internalOperations, type Operation, probes } from "./operations.ts";
import { hostileRequests } from "./requests.ts";
import { expectRefusal, type HostileRequest, type Port, Subject } from "./subject.ts";

setDefaultTimeout(300_000);

const BODY_BYTES_MAX = 64 * 1024;
/** Contract 2: no body holds up other requests noticeably. */
const CPU_MS_MAX = 50;
const TOKEN = "test-admin-token";
/** What the runtime and libraries know; none of it may matter. */
const NODE_ENVS = ["", "production", "development"];

interface Service {
  name: string;
  headers: Record<string, string>;
  internal: Operation[];
  start(env: Record<string, string>): Promise<RunningProcess>;
}

interface Target {
  port: Port;
  operation: Operation;
}

const SERVICES: Service[] = [
  {
    name: "identity",
    headers: {},
    internal: internalOperations.identity,
    start: async (env) =>
      startProcess("apps/identity/main.ts", {
        DATABASE_URL: await freshDatabase(),
        ROLES_FILE: "seeds/roles.yaml",
        ...env,
      }),
  },
  {
    name: "audit",
    headers: {},
    internal: internalOperations.audit,
    start: async (env) => startProcess("apps/audit/main.ts", { DATABASE_URL: await freshDatabase(), ...env }),
  },
  {
    name: "registry",
    headers: { Authorization: `Bearer ${TOKEN}` },
    internal: [],
    start: async (env) =>
      startProcess("apps/registry/main.ts", {
        DATABASE_URL: await freshDatabase(),
        ROUTE_STORE_URL: await freshRouteStoreUrl(),
        ADMIN_TOKEN: TOKEN,
        ...env,
      }),
  },
];

for (const { name, headers, internal, start } of SERVICES) {
  describe.skipIf(name === "registry" && !services().etcd.real)(`every operation of ${name}`, () => {
    let subjects: Subject[];
    let operations: Target[];

    beforeAll(async () => {
      subjects = await Promise.all(
        NODE_ENVS.map(async (NODE_ENV) => new Subject(await start(NODE_ENV ? { NODE_ENV } : {}), headers)),
      );
      const documented = await documentedOperations(subjects[0]?.url("public") ?? "");
      expect(documented.length).toBeGreaterThan(1);
      const on = (port: Port) => (operation: Operation) => ({ port, operation });
      operations = [...documented.map(on("public")), ...[...internal, ...probes].map(on("internal"))];
    });
    afterAll(() => Promise.all(subjects.map((subject) => subject.stop())));

    /** Sends requests to all processes; each must refuse alike, at small cost. */
    async function sendToAll(port: Port, requests: HostileRequest[], mayPass: boolean): Promise<void> {
      const [first = [], ...others] = await Promise.all(
        subjects.map((subject) => subject.sendBounded(port, requests, CPU_MS_MAX)),
      );
      for (const [index, request] of requests.entries()) {
        const answer = first[index];
        if (answer === undefined || (mayPass && answer.status < 400)) continue;
        expectRefusal(request, answer);
        for (const other of others) expect([request.name, other[index]]).toEqual([request.name, answer]);
      }
    }

    test("refuses hostile requests at small cost, whatever NODE_ENV says", async () => {
      for (const { port, operation } of operations) {
        const { refused, perhaps } = hostileRequests(operation, BODY_BYTES_MAX);
        for (const some of inTens(refused)) await sendToAll(port, some, false);
        for (const some of inTens(perhaps)) await sendToAll(port, some, true);
      }
      for (const subject of subjects) expect(subject.stderr).toEqual([]);
    });

    test("goes on with other requests meanwhile", async () => {
      const [subject] = subjects;
      if (subject === undefined) throw new Error("There is no process.");
      const requests = operations.flatMap(({ port, operation }) =>
        hostileRequests(operation, BODY_BYTES_MAX).refused.map((request) => ({ port, request })),
      );
      let busy = true;
      const attackers = Array.from({ length: 8 }, async () => {
        for (let next = requests.pop(); next; next = requests.pop())
          await subject.send(next.port, next.request);
      });
      const attack = Promise.all(attackers).finally(() => {
        busy = false;
      });
      for (let before = await subject.cpu_ms(); busy; ) {
        const now = await subject.cpu_ms();
        // whoever comes now waits for the one of each attacker that is there already
        expect(now - before).toBeLessThan((attackers.length + 1) * CPU_MS_MAX);
        before = now;
      }
      await attack;
    });
  });
}

function* inTens<T>(items: readonly T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += 10) yield items.slice(start, start + 10);
}
