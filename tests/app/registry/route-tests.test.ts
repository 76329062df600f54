import { beforeEach, describe, expect, test } from "bun:test";
import { waitFor } from "../../support/time/wait-for.ts";
import { fields, projected, type RegistryResponse, service, useRegistry } from "./bed.ts";

const registry = useRegistry({ env: { ROLES_FILE: "seeds/roles.yaml" } });

/** The name in the services and paths of the current test. Every test has its own name. */
let own = "";
let count = 0;
beforeEach(() => {
  own = `t${++count}`;
});

const looksUp = (path: string, expected: object, more: object = {}) => ({
  name: `GET ${path}`,
  method: "GET",
  path,
  ...more,
  expect: expected,
});

const withTests = (config: object, ...tests: object[]) => ({ ...config, tests });
const messages = (response: RegistryResponse) => fields(response).map(({ message }) => message);

/** Returns the config of a service with one organization route that requires labels. */
const labelled = (path: string, ...required_labels: string[]) => ({
  url: "http://upstream:8080",
  organization: {
    routes: [{ path, methods: ["GET"], required_labels, rate_limit: { requests: 5, window_seconds: 1 } }],
  },
});

describe("tests of a written service", () => {
  // RG-145, RG-149
  test("are stored with the revision, but not in the route store", async () => {
    const tests = [looksUp(`/${own}`, { service: own, upstream: `/${own}` })];
    const config = withTests(service(`/${own}`), ...tests);
    expect((await registry.apply({ [own]: config })).status).toBe(200);
    expect((await registry.call("GET", `/services/${own}`)).body.tests).toEqual(tests);
    expect((await registry.call("GET", `/services/${own}/revisions/1`)).body.config.tests).toEqual(tests);
    expect((await registry.call("GET", `/services/${own}/revisions`)).body.revisions[0].config.tests).toEqual(
      tests,
    );
    const listed = (await registry.call("GET", "/services")).body;
    expect(listed.services[own].tests).toEqual(tests);
    expect((await registry.apply({ [own]: listed.services[own] })).status).toBe(200);
    await waitFor(async () => own in (await projected(registry.routeStore)), { what: "the projection" });
    expect((await projected(registry.routeStore))[own]).toEqual(service(`/${own}`));
  });

  // RG-148
  test.each([
    ["another service", { service: "other" }, {}, "service is SELF, not other"],
    ["another upstream", { upstream: "/x" }, {}, "upstream is /SELF/a, not /x"],
    ["no route", { status: 404 }, {}, "SELF serves the request with the route GET /SELF/{id}"],
    ["more requests", { requests: 6 }, {}, "requests is 5, not 6"],
    ["no limit", { requests: false }, { plan: "pro" }, "requests is 5, not false"],
    [
      "a role that lacks the label",
      { allowed: true },
      { role: "member" },
      "allowed is false, not true, since the route needs nobody:has",
    ],
    [
      "labels that suffice",
      { allowed: false },
      { labels: ["nobody:has"] },
      "allowed is true, not false, since the route needs nobody:has",
    ],
    ["an unknown role", { allowed: true }, { role: "captain" }, "the roles file has no role captain"],
  ])("that expect %s are 422 with their name, and nothing is written", async (_, expected, more, found) => {
    const failing = looksUp(`/${own}/a`, expected, more);
    const config = withTests(labelled(`/${own}/{id}`, "nobody:has"), failing);
    const refused = await registry.apply({ [own]: config });
    const reason = found.replaceAll("SELF", own);
    expect([refused.status, fields(refused)]).toEqual([
      422,
      [
        {
          path: `services.${own}.tests[0]`,
          message: `The test \`GET /${own}/a\` of GET /${own}/a fails: ${reason}.`,
        },
      ],
    ]);
    const put = await registry.put(own, config);
    expect([put.status, fields(put)[0]?.path]).toEqual([422, "tests[0]"]);
    const dryRun = await registry.call("POST", "/apply?dry_run=true", { services: { [own]: config } });
    expect(dryRun.status).toBe(422);
    expect((await registry.call("GET", `/services/${own}/revisions`)).status).toBe(404);
  });

  // RG-146, RG-148
  test("include the routes of other services, of which the more specific one wins", async () => {
    await registry.put(`${own}-a`, service(`/${own}/{id}`, `/${own}/x/{id}/y`));
    const tests = [
      looksUp(`/${own}/mine`, { service: own }),
      looksUp(`/${own}/other`, { service: `${own}-a`, upstream: `/${own}/other` }),
      looksUp(`/${own}/x/1/y`, { service: `${own}-a` }),
      looksUp(`/${own}/x/1/z`, { status: 404 }),
      looksUp(`/${own}/`, { status: 404 }),
      looksUp("/", { status: 404 }),
    ];
    const written = await registry.put(own, withTests(service(`/${own}/mine`), ...tests));
    expect([written.status, written.body.error]).toEqual([200, undefined]);
  });

  // RG-146
  test("fail for a request to which the gateway responds with 400, and pass for a spelling that is 404", async () => {
    const config = service(`/${own}/{id}`, `/${own}/internal`);
    for (const value of ["..;", "a%2Fb", "%3Bx", "a%00"]) {
      const refused = await registry.put(
        own,
        withTests(config, looksUp(`/${own}/${value}`, { service: own })),
      );
      expect([refused.status, messages(refused)[0]]).toEqual([
        422,
        expect.stringContaining("responds with 400"),
      ]);
    }
    const spellings = ["%69nternal", "INTERNAL", "internal;x"].map((value) => `/${own}/${value}`);
    const tests = spellings.map((path) => looksUp(path, { status: 404 }));
    expect((await registry.put(own, withTests(config, ...tests))).status).toBe(200);
  });

  // RG-147
  test("at the top of a document are stored with the service that they expect, or else with the first one", async () => {
    const document = {
      services: { [`${own}-a`]: service(`/${own}/a`), [`${own}-b`]: service(`/${own}/b`) },
      tests: [
        looksUp(`/${own}/b`, { service: `${own}-b` }),
        looksUp(`/${own}/c`, { status: 404 }),
        looksUp(`/${own}/a`, { upstream: `/${own}/a` }),
      ],
    };
    expect((await registry.call("POST", "/apply", document)).status).toBe(200);
    const names = async (of: string) =>
      (await registry.call("GET", `/services/${of}`)).body.tests.map(({ name }: { name: string }) => name);
    expect(await names(`${own}-a`)).toEqual([`GET /${own}/c`, `GET /${own}/a`]);
    expect(await names(`${own}-b`)).toEqual([`GET /${own}/b`]);
  });
});

describe("a write of another team", () => {
  /** Publishes a service with a test: the service serves `/<own>/reports` for callers with `reports:read`. */
  async function publish() {
    const tested = looksUp(`/${own}/reports`, { service: own, allowed: true }, { labels: ["reports:read"] });
    const config = withTests(labelled(`/${own}/{name}`, "reports:read"), tested);
    expect((await registry.put(own, config)).status).toBe(200);
  }

  // RG-148
  test("is refused with the name of the test that it breaks", async () => {
    await publish();
    const refused = await registry.apply({ [`${own}-thief`]: service(`/${own}/reports`) });
    expect([refused.status, fields(refused)]).toEqual([
      422,
      [
        {
          path: `services.${own}.tests[0]`,
          message: `The test \`GET /${own}/reports\` of GET /${own}/reports fails: service is ${own}-thief, not ${own}.`,
        },
      ],
    ]);
    expect((await registry.put(`${own}-thief`, service(`/${own}/other`))).status).toBe(200);
    const late = await registry.put(`${own}-thief`, service(`/${own}/other`, `/${own}/reports`));
    expect([late.status, fields(late)[0]?.path]).toEqual([422, `services.${own}.tests[0]`]);
  });

  // RG-148
  test("is refused even if it is a deletion or a restore", async () => {
    await registry.put(`${own}-a`, service(`/${own}/a`));
    await registry.put(`${own}-a`, service(`/${own}/other`));
    await registry.put(`${own}-b`, service(`/${own}/b`));
    const tests = [looksUp(`/${own}/a`, { status: 404 }), looksUp(`/${own}/b`, { service: `${own}-b` })];
    expect((await registry.put(own, withTests(service(`/${own}/mine`), ...tests))).status).toBe(200);
    const restored = await registry.call("POST", `/services/${own}-a/revisions/1/restore`);
    expect([restored.status, messages(restored)[0]]).toEqual([
      422,
      expect.stringContaining(`${own}-a serves`),
    ]);
    const deleted = await registry.call("DELETE", `/services/${own}-b`);
    expect([deleted.status, messages(deleted)[0]]).toEqual([422, expect.stringContaining("no route serves")]);
    expect((await registry.call("GET", `/services/${own}-b`)).status).toBe(200);
    expect((await registry.call("DELETE", `/services/${own}`)).status).toBe(204);
    expect((await registry.call("DELETE", `/services/${own}-b`)).status).toBe(204);
  });

  // RG-148
  test("is not blocked by a test that already failed, or by a test of a deleted service", async () => {
    await registry.put(`${own}-a`, service(`/${own}/a`));
    const before = withTests(service(`/${own}/mine`), looksUp(`/${own}/a`, { service: `${own}-a` }));
    expect((await registry.put(own, before)).status).toBe(200);
    const together = await registry.apply({
      [`${own}-a`]: service(`/${own}/b`),
      [own]: service(`/${own}/mine`),
    });
    expect(together.status).toBe(200);
    const stale = await registry.call("POST", `/services/${own}/revisions/1/restore`);
    expect(stale.status).toBe(422);
    await registry.put(`${own}-a`, service(`/${own}/a`));
    expect((await registry.call("POST", `/services/${own}/revisions/1/restore`)).status).toBe(200);
    expect((await registry.call("DELETE", `/services/${own}`)).status).toBe(204);
    expect((await registry.call("DELETE", `/services/${own}-a`)).status).toBe(204);
  });
});

// RG-151
test("a dry run and a diff show changed tests as changes of the service", async () => {
  const first = looksUp(`/${own}`, { service: own });
  await registry.put(own, withTests(service(`/${own}`), first));
  const next = { ...first, expect: { service: own, upstream: `/${own}` } };
  const changed = withTests(service(`/${own}`), next);
  const { body } = await registry.call("POST", "/apply?dry_run=true", { services: { [own]: changed } });
  const change = { action: "changed", scope: null, method: null, path: null };
  const expected = [{ ...change, before: { test: first }, after: { test: next } }];
  expect(body.results[0].changes).toEqual(expected);
  await registry.put(own, changed);
  const compared = await registry.call("GET", `/services/${own}/revisions/1/diff/2`);
  expect(compared.body.changes).toEqual(expected);
});

describe("an invalid test", () => {
  const good = { name: "n", method: "GET", path: "/a", expect: { status: 404 } };
  const expecting = (expected: object, more: object = {}) => [{ ...good, ...more, expect: expected }];

  // RG-145, RG-146
  test.each([
    ["no list", {}, ""],
    ["an unknown field", [{ ...good, extra: 1 }], "[0].extra"],
    ["an empty name", [{ ...good, name: "" }], "[0].name"],
    ["a long name", [{ ...good, name: "x".repeat(129) }], "[0].name"],
    ["a repeated name", [good, good], "[1].name"],
    ["another method", [{ ...good, method: "get" }], "[0].method"],
    ["a query", [{ ...good, path: "/a?b" }], "[0].path"],
    ["a long path", [{ ...good, path: `/${"x".repeat(1024)}` }], "[0].path"],
    ["nothing expected", expecting({}), "[0].expect"],
    ["another status", expecting({ status: 403 }), "[0].expect.status"],
    ["a status that is not alone", expecting({ status: 404, service: "a" }), "[0].expect.status"],
    ["no requests", expecting({ requests: 0 }), "[0].expect.requests"],
    ["allowed without a caller", expecting({ allowed: true }), "[0].expect.allowed"],
    ["a role without allowed", [{ ...good, role: "a" }], "[0].role"],
    ["role and labels", expecting({ allowed: true }, { role: "a", labels: [] }), "[0].labels"],
    ["a wrong label", expecting({ allowed: true }, { labels: ["A"] }), "[0].labels[0]"],
    ["a plan without requests", [{ ...good, plan: "pro" }], "[0].plan"],
    ["too many", Array.from({ length: 1001 }, (_, name) => ({ ...good, name: `${name}` })), ""],
  ])("with %s is 422 with its path, in a service and at the top", async (_, tests, place) => {
    const inService = await registry.apply({ [own]: { ...service(`/${own}`), tests } });
    const atTop = await registry.call("POST", "/apply", { services: { [own]: service(`/${own}`) }, tests });
    const refused = [inService, atTop].map((response) => [
      response.status,
      ...fields(response).map(({ path }) => path),
    ]);
    expect(refused).toEqual([
      [422, `services.${own}.tests${place}`],
      [422, `tests${place}`],
    ]);
    expect((await registry.call("GET", `/services/${own}/revisions`)).status).toBe(404);
  });

  // RG-147
  test("at the top of a document has the name of a test of the service, or exceeds the service's 1000 tests", async () => {
    const services = { [own]: withTests(service(`/${own}`), { ...good, path: "/nowhere" }) };
    const twice = await registry.call("POST", "/apply", { services, tests: [{ ...good, path: "/nowhere" }] });
    expect([twice.status, fields(twice)[0]?.path]).toEqual([422, "tests[0].name"]);
    const many = (from: number, length: number) =>
      Array.from({ length }, (_, index) => ({ ...good, path: "/nowhere", name: `${from + index}` }));
    const full = { [own]: withTests(service(`/${own}`), ...many(0, 600)) };
    const over = await registry.call("POST", "/apply", { services: full, tests: many(600, 401) });
    expect([over.status, fields(over)[0]?.path]).toEqual([422, `services.${own}.tests`]);
    expect((await registry.call("POST", "/apply", { services: full, tests: many(600, 400) })).status).toBe(
      200,
    );
    expect((await registry.call("DELETE", `/services/${own}`)).status).toBe(204);
  });
});
