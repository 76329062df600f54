import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { duringTests } from "../../support/during-tests.ts";
import { freshDatabase, freshRouteStoreUrl, services, startProcess } from "../../support/index.ts";
import { jsonDocuments, yamlDocuments } from "./documents.ts";
import { expectRefusal, type HostileRequest, Subject } from "./subject.ts";

setDefaultTimeout(300_000);

const MIB = 1024 * 1024;
const CPU_MS_PER_MIB_MAX = 300;
/** The CPU limit of a request whose body is too short for the limit per MiB. */
const CPU_MS_MAX = 50;
/**
 * The limit of a valid document. It is higher because the registry compares the routes and returns the
 * changes.
 */
const VALID_CPU_MS_PER_MIB_MAX = 2 * CPU_MS_PER_MIB_MAX;
const TOKEN = "test-admin-token";

// ER-14
describe.skipIf(!services().etcd.real)("a document of the registry", () => {
  const registry = duringTests(async () => {
    const running = await startProcess("apps/registry/main.ts", {
      DATABASE_URL: await freshDatabase(),
      ROUTE_STORE_URL: await freshRouteStoreUrl(),
      ADMIN_TOKEN: TOKEN,
    });
    return new Subject(running, { Authorization: `Bearer ${TOKEN}` });
  });

  /** Sends a request and expects that it costs no more CPU time than its size allows. */
  async function expectBounded(request: HostileRequest, valid: boolean): Promise<void> {
    const cpuMsPerMibMax = valid ? VALID_CPU_MS_PER_MIB_MAX : CPU_MS_PER_MIB_MAX;
    const size = (request.body?.length ?? 0) / MIB;
    const cpuMsMax = Math.max(CPU_MS_MAX, cpuMsPerMibMax * size);
    const [response] = await registry.sendBounded("public", [request], cpuMsMax);
    if (response === undefined) throw new Error("The registry sent no response.");
    if (valid) expect([request.name, response.status]).toEqual([request.name, 200]);
    else expectRefusal(request, response);
  }

  const apply = (name: string, body: string, type: string, path = "/apply"): HostileRequest => ({
    name: `${name} as ${type}`,
    method: "POST",
    path,
    body,
    headers: { "Content-Type": type },
  });

  test("costs at most 300 ms of CPU for each MiB, in JSON", async () => {
    for (const [name, { text, valid }] of Object.entries(jsonDocuments(MIB))) {
      await expectBounded(apply(name, text, "application/json", "/apply?dry_run=true"), valid === true);
      const put = { name: `${name} in PUT`, method: "PUT", path: "/services/a", body: text };
      await expectBounded(put, false);
    }
  });

  test("costs no more for each MiB in YAML", async () => {
    for (const [name, { text, valid }] of Object.entries({ ...jsonDocuments(MIB), ...yamlDocuments(MIB) })) {
      await expectBounded(apply(name, text, "application/yaml", "/apply?dry_run=true"), valid === true);
    }
  });

  test("costs no more for each MiB at the maximum document size", async () => {
    for (const [name, { text, valid }] of Object.entries(yamlDocuments(4 * MIB))) {
      if (valid !== true) await expectBounded(apply(name, text, "application/yaml"), false);
    }
    for (const [name, { text, valid }] of Object.entries(jsonDocuments(4 * MIB))) {
      if (valid !== true) await expectBounded(apply(name, text, "application/json"), false);
    }
  });
});
