/** Tests that the check of route tests holds no other writer up, and still sees what other writers change (RG-148). */
import { describe, expect, test } from "bun:test";
import { type StoredServiceConfig, validateService } from "@ostiary/lib/domain/routes";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import { CurrentTable, type Snapshot } from "../../../../apps/registry/lookup/current-table.ts";
import type { Publishing } from "../../../../apps/registry/publishing/publish.ts";
import { putService } from "../../../../apps/registry/services/service-commands.ts";
import { fields, service, useRegistry } from "../../../app/registry/bed.ts";
import { closing, duringTests } from "../../../support/during-tests.ts";

const registry = useRegistry();
const database = duringTests(async () =>
  closing(await openDatabase(registry.databaseUrl, { namespace: "test", poolMax: 8 })),
);

const expecting = (path: string, expect: object) => ({ name: path, method: "GET", path, expect });
const author = { operator: null, request_id: "test", reason: null, link: null };

/** Returns every shape of `levels` segments, each a literal or a param, below a literal. */
function shapesBelow(root: string, levels: number, end: string): string[] {
  return Array.from({ length: 2 ** levels }, (_, bits) => {
    const segments = Array.from({ length: levels }, (_, index) =>
      (bits >> index) & 1 ? "a" : `{p${index}}`,
    );
    return `/${[root, ...segments, end].join("/")}`;
  });
}

function valid(config: object): StoredServiceConfig {
  const result = validateService("tested", config);
  if (!result.ok) throw new Error(JSON.stringify(result.fields));
  return result.service;
}

/** Puts a service with commands of the registry that call `onSnapshot` before each check. */
function put(name: string, config: object, onSnapshot: (snapshot: Snapshot) => Promise<unknown>) {
  const current = new CurrentTable(database);
  const publishing: Publishing = {
    database,
    onCommit: () => {},
    countWrites: () => {},
    propagations: { wait: () => Promise.reject(new Error("Nothing waits.")) },
    roles: null,
    current: {
      async snapshot() {
        const snapshot = await current.snapshot();
        await onSnapshot(snapshot);
        return snapshot;
      },
    },
  };
  return putService(publishing, name, valid(config), { ifMatch: null, author });
}

// RG-148, RG-165
describe("while the tests of a write are checked", () => {
  test("other services can be written, and the check sees them", async () => {
    const tests = [expecting("/slow/a", { service: "slow" })];
    let checks = 0;
    const written = put("slow", { ...service("/slow/{x}"), tests }, async () => {
      checks++;
      expect((await registry.put("quick", service("/quick"))).status).toBe(200);
    });
    expect(await written).toMatchObject({ name: "slow", revision: 1 });
    expect(checks).toBe(1);
    const refused = put(
      "slow-too",
      { ...service("/slow-too/{x}"), tests: [expecting("/slow-too/a", { service: "slow-too" })] },
      async () => {
        expect((await registry.put("thief", service("/slow-too/a"))).status).toBe(200);
      },
    );
    await expect(refused).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  test("a test that another service adds counts, also if no service had tests", async () => {
    await registry.call("DELETE", "/services/slow");
    const guard = { ...service("/guarded/{x}"), tests: [expecting("/guarded/a", { service: "guard" })] };
    const refused = put(
      "intruder",
      { ...service("/guarded/a"), tests: [expecting("/none", { status: 404 })] },
      () => registry.put("guard", guard),
    );
    await expect(refused).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect((await registry.call("GET", "/services/intruder")).status).toBe(404);
  });

  test("a check that is much work starts again, a bounded number of times", async () => {
    const shapes = service(...shapesBelow("many", 11, "end"));
    expect((await registry.put("many", shapes)).status).toBe(200);
    const tests = Array.from({ length: 250 }, (_, index) =>
      expecting(`/many/${"a/".repeat(11)}other-${index}`, { status: 404 }),
    );
    let checks = 0;
    const written = put("checker", { ...service("/checker"), tests }, () =>
      registry.put("rival", service(`/rival/${checks++}`)),
    );
    expect(await written).toMatchObject({ name: "checker", revision: 1 });
    expect(checks).toBe(4);
  });
});

// RG-148
test("a route that refuses another spelling counts for a test of that spelling", async () => {
  const tests = [expecting("/spelled/%69nternal/b", { service: "spelled" })];
  expect((await registry.put("spelled", { ...service("/spelled/{x}/b"), tests })).status).toBe(200);
  for (const path of ["/spelled/internal/b", "/spelled/internal/c", "/spelled/internal;x/c"]) {
    expect((await registry.put("speller", service(path))).status).toBe(422);
  }
  expect((await registry.put("speller", service("/spelled/internal/b/c"))).status).toBe(200);
});

// RG-148, RG-165
test("many writers of many tests over many shapes finish, and no test fails afterwards", async () => {
  expect((await registry.put("shapes", service(...shapesBelow("s", 11, "end")))).status).toBe(200);
  const testsOf = (name: string) => [
    ...Array.from({ length: 49 }, (_, index) => expecting(`/s/${"a/".repeat(11)}${index}`, { status: 404 })),
    expecting(`/of/${name}/x`, { service: name }),
  ];
  const writers = Array.from({ length: 12 }, (_, index) => `writer-${index}`);
  const responses = await Promise.all([
    ...writers.map((name) => registry.put(name, { ...service(`/of/${name}/{x}`), tests: testsOf(name) })),
    ...writers.map((name) => registry.put(`small-${name}`, service(`/small/${name}`))),
    ...writers.map((name) => registry.put(`thief-${name}`, service(`/of/${name}/x`))),
  ]);
  const refused = responses.filter(({ status }) => status !== 200);
  // Each writer races its thief, and exactly one of them is refused.
  expect(refused.map(({ status }) => status)).toEqual(writers.map(() => 422));
  expect(refused.flatMap(fields).every(({ message }) => message.includes("/x fails"))).toBe(true);
  for (const name of writers) {
    const found = await registry.call("GET", `/routes?method=GET&path=/of/${name}/x`);
    const isTested = (await registry.call("GET", `/services/${name}`)).status === 200;
    expect(found.body.service).toBe(isTested ? name : `thief-${name}`);
  }
});
