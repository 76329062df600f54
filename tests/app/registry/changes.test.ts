import { beforeAll, describe, expect, test } from "bun:test";
import { fields, service, useRegistry } from "./bed.ts";
import { entry } from "./operators.ts";

const BOUNDS = { services: ["*"], paths: ["/"], urls: ["http://upstream:8080"] };
const operators = [
  entry("blue", "publisher", BOUNDS),
  entry("green", "publisher", BOUNDS),
  entry("docs", "reader"),
];
const registry = useRegistry({ operators });

/** Returns a header value with one character for each UTF-8 byte, as fetch requires. */
const bytes = (text: string) => Buffer.from(text).toString("latin1");
const NOTE = {
  "X-Change-Reason": bytes("Größere Grenzen ✓"),
  "X-Change-Link": "https://git.example.com/runs/17",
};

async function newest(name: string) {
  const { body } = await registry.as("docs").call("GET", `/services/${name}/revisions`);
  return body.revisions[0];
}

// RG-119
describe("a write", () => {
  test("is recorded with its operator, reason and link for apply, PUT, DELETE and restore", async () => {
    const blue = registry.as("blue");
    const noted = { operator: "blue", reason: "Größere Grenzen ✓", link: NOTE["X-Change-Link"] };
    const writes = [
      () => blue.call("POST", "/apply", { services: { noted: service("/noted") } }, NOTE),
      () => blue.put("noted", service("/noted"), NOTE),
      () => blue.call("DELETE", "/services/noted", undefined, NOTE),
      () => blue.call("POST", "/services/noted/revisions/1/restore", undefined, NOTE),
    ];
    for (const write of writes) {
      expect((await write()).status).toBeLessThan(300);
      expect(await newest("noted")).toMatchObject(noted);
    }
    const { body } = await blue.call("GET", "/services/noted/revisions/2");
    expect(body).toMatchObject({ action: "put", ...noted });
  });

  test("without a reason is recorded with null, and with ADMIN_TOKEN the operator is admin", async () => {
    const empty = { "X-Change-Reason": " ", "X-Change-Link": "" };
    await registry.put("plain", service("/plain"), empty);
    expect(await newest("plain")).toMatchObject({ operator: "admin", reason: null, link: null });
  });

  const rule = "X-Change-Reason must be at most 512 characters of UTF-8 without control characters.";
  const linkRule =
    "X-Change-Link must be an http:// or https:// URL of at most 2048 characters, without user and password.";
  test.each([
    ["a reason of 513 characters", { "X-Change-Reason": "x".repeat(513) }, [rule]],
    ["a reason that is not UTF-8", { "X-Change-Reason": "Gr\xf6\xdfe" }, [rule]],
    ["a script for a link", { "X-Change-Link": "javascript:alert(1)" }, [linkRule]],
    ["a link with a password", { "X-Change-Link": "https://me:secret@example.com/" }, [linkRule]],
    ["a link that is too long", { "X-Change-Link": `https://example.com/${"x".repeat(2048)}` }, [linkRule]],
    ["both", { "X-Change-Reason": "x".repeat(513), "X-Change-Link": "here" }, [rule, linkRule]],
  ])("with %s is 422 and writes nothing, and a dry run says the same", async (_, headers, messages) => {
    for (const path of ["/apply", "/apply?dry_run=true"]) {
      const body = { services: { misnoted: service("/misnoted") } };
      const response = await registry.as("blue").call("POST", path, body, headers);
      expect(response.status).toBe(422);
      expect(fields(response).map(({ message }) => message)).toEqual(messages);
    }
    expect((await registry.call("GET", "/services/misnoted")).status).toBe(404);
  });

  // RG-122
  test("is counted by operator in the metrics", async () => {
    await registry.as("green").apply({ counted: service("/counted"), twice: service("/twice") });
    const scrape = await (await fetch(`${registry.internalUrl}/metrics`)).text();
    expect(scrape).toMatch(/^registry_service_writes_total\{operator="green"\} [2-9]/m);
  });
});

// RG-120
describe("GET /changes", () => {
  const other = useRegistry({ operators });
  beforeAll(async () => {
    for (let number = 0; number < 6; number++) {
      await other.as(number % 2 === 0 ? "blue" : "admin").put(`s${number % 3}`, service(`/s/${number % 3}`));
    }
    // Write several services in one transaction, because changes with equal times must have an order too.
    await other.as("blue").apply({ s0: service("/s/0"), s1: service("/s/1"), s2: service("/s/2") });
    await other.call("DELETE", "/services/s1");
  });
  const places = (changes: { service: string; revision: number }[]) =>
    changes.map((change) => `${change.service}:${change.revision}`);
  const list = async (query: string) => (await other.as("docs").call("GET", `/changes?${query}`)).body;
  test("lists every write of every service, newest first, without configs", async () => {
    const { changes, has_more } = await list("");
    expect(has_more).toBe(false);
    expect(changes).toHaveLength(10);
    expect(changes[0]).toEqual({
      service: "s1",
      revision: 4,
      action: "delete",
      operator: "admin",
      reason: null,
      link: null,
      request_id: expect.any(String),
      created_at: expect.any(String),
    });
    const times: string[] = changes.map(({ created_at }: { created_at: string }) => created_at);
    expect(times).toEqual(times.toSorted().reverse());
  });

  test("lists each write once and in the same order with every page size", async () => {
    const whole = places((await list("")).changes);
    for (const limit of [1, 3, 4, 10]) {
      const found: string[] = [];
      for (let after = ""; ; ) {
        const { changes, has_more } = await list(`limit=${limit}${after}`);
        expect(changes.length).toBeLessThanOrEqual(limit);
        found.push(...places(changes));
        if (!has_more) break;
        after = `&starting_after=${found.at(-1)}`;
      }
      expect(found).toEqual(whole);
    }
  });

  test("filters by service, operator, time and their combinations", async () => {
    expect(new Set(places((await list("service=s0")).changes))).toEqual(new Set(["s0:1", "s0:2", "s0:3"]));
    const byAdmin = (await list("operator=admin")).changes;
    expect(byAdmin).toHaveLength(4);
    expect((await list("operator=admin&service=s1")).changes).toHaveLength(2 + 0);
    expect((await list("operator=nobody")).changes).toEqual([]);
    expect((await list("created_after=2999-01-01T00:00:00Z")).changes).toEqual([]);
    expect((await list("created_before=2999-01-01T00:00:00%2B02:00")).changes).toHaveLength(10);
    expect((await list("created_before=2020-01-01T00:00:00Z")).changes).toEqual([]);
  });

  test.each([
    "limit=0",
    "limit=x",
    `service=${"x".repeat(129)}`,
    "operator=a%20b",
    "created_before=2026-02-30T00:00:00Z",
    "starting_after=s0",
    "starting_after=s0:99",
    "starting_after=never:1",
    "verbose=1",
  ])("%s is 422", async (query) => {
    expect((await other.as("docs").call("GET", `/changes?${query}`)).status).toBe(422);
  });
});
