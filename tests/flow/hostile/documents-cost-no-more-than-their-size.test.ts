import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { freshDatabase, freshRouteStoreUrl, services, startProcess } from "../../support/index.ts";
import { jsonDocuments, yamlDocuments } from "./documents.ts";
import { expectRefusal, type HostileRequest, Subject } from "./subject.ts";

setDefaultTimeout(300_000);

const MIB = 1024 * 1024;
const CPU_MS_PER_MIB_MAX = 300;
/** The CPU limit of any request, however short. */
const CPU_MS_MAX = 50;
/** A valid document is also compared with everything stored, and its answer lists each of its routes. */
const VALID_CPU_MS_PER_MIB_MAX = 2 * CPU_MS_PER_MIB_MAX;
const TOKEN = "test-admin-token";

// ER-14
describe.skipIf(!services().etcd.real)("a document of the registry", () => {
  let registry: Subject;

  beforeAll(async () => {
    const running = await startProcess("apps/registry/main.ts", {
      DATABASE_URL: await freshDatabase(),
      ROUTE_STORE_URL: await freshRouteStoreUrl(),
      ADMIN_TOKEN: TOKEN,
    });
    registry = new Subject(running, { Authorization: `Bearer ${TOKEN}` });
  });
  afterAll(() => registry.stop());

  /** Sends one request at a time, because each may take its whole limit. */
  async function expectBounded(request: HostileRequest, valid: boolean): Promise<void> {
    const cpu_ms_per_mib_max = valid ? VALID_CPU_MS_PER_MIB_MAX : CPU_MS_PER_MIB_MAX;
    const size = (request.body?.length ?? 0) / MIB;
    const cpu_ms_max = Math.max(CPU_MS_MAX, cpu_ms_per_mib_max * size);
    const [answer] = await registry.sendBounded("public", [request], cpu_ms_max);
    if (answer === undefined) throw new Error("There was no answer.");
    if (valid) expect([request.name, answer.status]).toEqual([request.name, 200]);
    else expectRefusal(request, answer);
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

  test("costs no more in YAML", async () => {
    for (const [name, { text, valid }] of Object.entries({ ...jsonDocuments(MIB), ...yamlDocuments(MIB) })) {
      await expectBounded(apply(name, text, "application/yaml", "/apply?dry_run=true"), valid === true);
    }
  });

  test("costs no more for each MiB at the maximum size", async () => {
    for (const [name, { text, valid }] of Object.entries(yamlDocuments(4 * MIB))) {
      if (valid !== true) await expectBounded(apply(name, text, "application/yaml"), false);
    }
    for (const [name, { text, valid }] of Object.entries(jsonDocuments(4 * MIB))) {
      if (valid !== true) await expectBounded(apply(name, text, "application/json"), false);
    }
  });
});
