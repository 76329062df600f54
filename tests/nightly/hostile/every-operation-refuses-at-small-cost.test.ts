import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  freshDatabase,
  freshRouteStoreUrl,
  type RunningProcess,
  services,
  startProcess,
} from "../../support/index.ts";
import { describedOperations, type Operation, probes } from "./operations.ts";
import { hostileRequests } from "./requests.ts";
import { expectRefusal, type HostileRequest, type Port, Subject } from "./subject.ts";

setDefaultTimeout(300_000);

const BODY_BYTES_MAX = 64 * 1024;
/** The CPU limit of a request, so that no body delays other requests noticeably (ER-14). */
const CPU_MS_MAX = 50;
const TOKEN = "test-admin-token";
/** Values of NODE_ENV that Elysia treats differently. Ostiary must behave the same with both. */
const NODE_ENVS = ["", "production"];

interface Service {
  name: string;
  headers: Record<string, string>;
  describesInternal: boolean;
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
    describesInternal: true,
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
    describesInternal: true,
    start: async (env) => startProcess("apps/audit/main.ts", { DATABASE_URL: await freshDatabase(), ...env }),
  },
  {
    name: "registry",
    headers: { Authorization: `Bearer ${TOKEN}` },
    describesInternal: false,
    start: async (env) =>
      startProcess("apps/registry/main.ts", {
        DATABASE_URL: await freshDatabase(),
        ROUTE_STORE_URL: await freshRouteStoreUrl(),
        ADMIN_TOKEN: TOKEN,
        ...env,
      }),
  },
];

for (const { name, headers, describesInternal, start } of SERVICES) {
  // ER-3, ER-4, ER-14
  describe.skipIf(name === "registry" && !services().etcd.real)(`every operation of ${name}`, () => {
    let subjects: Subject[];
    let operations: Target[];

    beforeAll(async () => {
      subjects = await Promise.all(
        NODE_ENVS.map(async (NODE_ENV) => new Subject(await start(NODE_ENV ? { NODE_ENV } : {}), headers)),
      );
      const described = async (port: Port) => {
        const found = await describedOperations(subjects[0]?.url(port) ?? "");
        expect(found.length).toBeGreaterThan(1);
        return found;
      };
      const internal = describesInternal ? await described("internal") : [];
      const on = (port: Port) => (operation: Operation) => ({ port, operation });
      operations = [
        ...(await described("public")).map(on("public")),
        ...[...internal, ...probes].map(on("internal")),
      ];
    });
    afterAll(() => Promise.all(subjects.map((subject) => subject.stop())));

    /**
     * Sends requests to all processes, and expects the same refusal from each within the CPU limit. With
     * `mayPass` a request may also succeed.
     */
    async function sendToAll(port: Port, requests: HostileRequest[], mayPass: boolean): Promise<void> {
      const [first = [], ...others] = await Promise.all(
        subjects.map((subject) => subject.sendBounded(port, requests, CPU_MS_MAX)),
      );
      for (const [index, request] of requests.entries()) {
        const response = first[index];
        if (response === undefined || (mayPass && response.status < 400)) continue;
        expectRefusal(request, response);
        for (const other of others) expect([request.name, other[index]]).toEqual([request.name, response]);
      }
    }

    test("refuses hostile requests within the CPU limit, with every NODE_ENV", async () => {
      for (const { port, operation } of operations) {
        const { refused, perhaps } = hostileRequests(operation, BODY_BYTES_MAX);
        for (const some of inTens(refused)) await sendToAll(port, some, false);
        for (const some of inTens(perhaps)) await sendToAll(port, some, true);
      }
      for (const subject of subjects) expect(subject.stderr).toEqual([]);
    });
  });
}

function* inTens<T>(items: readonly T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += 10) yield items.slice(start, start + 10);
}
