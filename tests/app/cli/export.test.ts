import { beforeAll, describe, expect, test } from "bun:test";
import { validateDocument } from "@ostiary/lib/domain/routes";
import { servicesOfYaml } from "@ostiary/registry/document";
import fc from "fast-check";
import { parse } from "yaml";
import { documentYaml } from "../../../apps/cli/commands/export.ts";
import { runs } from "../../support/runs.ts";
import { wordsOf } from "../../support/words.ts";
import { document } from "../../unit/routes/arbitraries.ts";
import { storedServices } from "../../unit/routes/fixtures.ts";
import { useCli } from "./bed.ts";

const { registry, cli } = useCli();

/** Names and labels that YAML reads as another type, such as a number, when they have no quotes. */
const WORDS = wordsOf("1 1e3 0x1f 0777 0o7 1_000 null true no on y 2001-01-01 .5 ...");

const tricky = Object.fromEntries([
  ...[...WORDS, "__proto__", "constructor"].map((name, index) => [
    name,
    {
      url: `http://upstream-${index}:8080`,
      rate_limits: Object.fromEntries([
        [`p${index}`, { requests: 1, window_seconds: 60 }],
        ["1:30", { requests: 1, window_seconds: 1 }],
      ]),
      member: {
        routes: [
          {
            path: `/words/${index}/{id}/~!$&'()*+,;=:@%c3%a9|[]`,
            upstream: `/{subject.member_id}/: #/{path.id}/'`.replaceAll(" #", "%20%23"),
            methods: ["GET", "POST"],
            required_labels: WORDS.map((word) => word.toLowerCase()),
            rate_limit: "1:30",
            audit: false,
          },
        ],
      },
    },
  ]),
]);

beforeAll(async () => {
  const response = await registry.apply(tricky);
  expect(response.status).toBe(200);
});

describe("export", () => {
  test("writes a document of all services that changes nothing when it is applied", async () => {
    const run = await cli(["export"]);
    expect(run).toMatchObject({ exitCode: 0, stderr: "" });
    expect(run.stdout).not.toContain("#");
    const plan = await cli(["diff", "-", "--json"], { input: run.stdout });
    const { results } = JSON.parse(plan.stdout);
    expect(results).toHaveLength(Object.keys(tricky).length);
    expect(results.filter(({ status }: { status: string }) => status !== "unchanged")).toEqual([]);
    expect((await cli(["apply", "-"], { input: run.stdout })).exitCode).toBe(0);
    expect((await cli(["export"])).stdout).toBe(run.stdout);
  });

  test("writes only the named service", async () => {
    const run = await cli(["export", "null"]);
    expect(run.exitCode).toBe(0);
    const { name: _, revision: __, ...config } = (await registry.call("GET", "/services/null")).body;
    expect(parse(run.stdout)).toEqual({ services: { null: config } });
    const json = await cli(["export", "null", "--json"]);
    expect(JSON.parse(json.stdout)).toEqual({ services: { null: config } });
    expect((await cli(["diff", "-", "--json"], { input: json.stdout })).stdout).toContain('"unchanged"');
  });
});

describe("the YAML of an export", () => {
  test("reads back as the same services, with YAML 1.1 and 1.2", () => {
    fc.assert(
      fc.property(document, (input) => {
        const services = Object.fromEntries(storedServices(input.services));
        const text = documentYaml({ services });
        expect(Object.fromEntries(servicesOfYaml(text))).toEqual(services);
        expect(parse(text, { version: "1.2" })).toEqual({ services });
        expect(parse(text, { version: "1.1" })).toEqual({ services });
      }),
      { numRuns: runs(20) },
    );
  });

  test("reads back unchanged for any text in a field", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      fc.constantFrom(...WORDS, "a\nb\n", "\n", " a", "é\u2028"),
    );
    fc.assert(
      fc.property(text, (value) => {
        const services = Object.fromEntries([
          ["a", { url: value, user: { routes: [{ path: value, methods: [] }] } }],
        ]);
        const yaml = documentYaml({ services });
        expect(parse(yaml)).toEqual({ services });
        expect(parse(yaml, { version: "1.1" })).toEqual({ services });
      }),
    );
  });
});

test("a registry without services exports a document without services, which cannot be applied", async () => {
  expect(documentYaml({ services: {} })).toBe("services: {}\n");
  expect(validateDocument(parse("services: {}\n")).ok).toBe(false);
});
