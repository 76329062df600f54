import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { gatewayVariables } from "@ostiary/gateway/config";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import stored from "../../nightly/bench/capacity/figures.json" with { type: "json" };
import { figuresFrom, figuresWith, StoredFigures } from "../../nightly/bench/capacity/figures.ts";
import { BUSY_MAX, type Demand, planFor } from "../../nightly/bench/capacity/model.ts";
import { demandOf, generatedParts, pageWith, RATES } from "../../nightly/bench/capacity/page.ts";
import storedSpeed from "../../nightly/bench/floor/speed.json" with { type: "json" };
import { Speed } from "../../nightly/bench/floor/speed.ts";
import { documentsOf } from "../../nightly/bench/floor/speed-documents.ts";
import { ROOT } from "../../support/root.ts";

const others = Value.Parse(StoredFigures, stored);
const speed = Value.Parse(Speed, storedSpeed);
const figures = figuresWith(others, speed);
const page = await Bun.file(join(ROOT, ".github/guides/capacity.md")).text();

/**
 * The path of a file with the output of `bun run bench all --json`. If it is set, a test compares the output
 * with the page.
 */
const given = process.env.BENCH_JSON;
/** The largest accepted ratio between the figures of two runs on one machine. */
const FACTOR_MAX = 1.5;

test("the capacity guide shows what the model computes from the figures", () => {
  expect(pageWith(page, figures)).toBe(page);
});

test("every document and the picture show the figures of speed.json", async () => {
  for (const [path, text] of await documentsOf(speed)) expect(await Bun.file(path).text()).toBe(text);
});

test("documents show no other figures for the rows of bench floor", async () => {
  for (const name of ["README.md", ".github/PERFORMANCE.md", ".github/guides/capacity.md"]) {
    const text = await Bun.file(join(ROOT, name)).text();
    const outside = text.replaceAll(/<!-- ([\w-]+) -->.*?<!-- \/\1 -->/gs, "");
    const rows = speed.rows.filter(({ title }) => outside.includes(`| ${title} `));
    expect(rows.map(({ title }) => title).filter((title) => /\| \d/.test(lineOf(outside, title)))).toEqual(
      [],
    );
    expect(outside).not.toMatch(/handled \d|\d times a second/);
  }
});

const lineOf = (text: string, title: string) =>
  text.split("\n").find((line) => line.startsWith(`| ${title} `)) ?? "";

test("the guide's example of one machine has the processes and the load of the plan", () => {
  const { gateways, identities, audits, redisShards, busyCores } = planFor(demandOf(1_000), figures);
  const registries = 2;
  expect(gateways + identities + audits + registries + redisShards).toBe(9);
  expect(page).toContain("The nine processes of the plan");
  expect(busyCores).toBeLessThan(2 * BUSY_MAX);
});

test("the plans fit the largest credential cache of a gateway, and the guide names the default", () => {
  const { default: fallback, maximum } = gatewayVariables.properties.ADMISSION_CACHE_ENTRIES;
  for (const rate of RATES) {
    expect(planFor(demandOf(rate), figures).gatewayCredentials).toBeLessThanOrEqual(Number(maximum));
  }
  expect(page.replaceAll("\n", " ")).toContain(`above the default of ${Number(fallback) / 1_000} 000`);
});

test("a page without the markers of a table is refused", () => {
  for (const name of generatedParts(figures).keys()) {
    expect(() => pageWith(page.replace(`<!-- /${name} -->`, ""), figures)).toThrow(name);
  }
});

describe("figures", () => {
  const benches = {
    machine: { cpu: "A", cores: 2, bun: "1", load_average: 0 },
    audited: { measured: [{ title: "audited, 64 at once", samples: [{ requests_per_cpu_second: 5_000 }] }] },
    validations: {
      measured: [{ title: "validate", samples: [{ requests_per_cpu_second: 20_000 }] }],
      selects: [40_000, 50_000, 60_000],
    },
    edits: {
      goals: [
        goal("memory, 0 routes, MiB", 100),
        goal("memory, 100 000 routes, MiB", 300),
        goal("longest stall by one edit, 100 000 routes, ms", 4),
      ],
    },
    memory: { goals: [goal("an idle event stream, KiB", 17)] },
  };

  test("come from a run of all benchmarks, and figures that no benchmark measures do not change", () => {
    expect(figuresFrom(benches, others, "2026-01-01")).toEqual({
      taken: "2026-01-01, A, 2 cores, Bun 1, load average 0",
      gateway_audited_us: 200,
      gateway_base_mib: 100,
      gateway_route_kib: 2.05,
      gateway_stream_kib: 17,
      gateway_edit_stall_ms: 4,
      identity_validation_us: 50,
      postgres_validation_us: 40,
      redis_count_us: figures.redis_count_us,
      audit_event_us: figures.audit_event_us,
      postgres_event_us: figures.postgres_event_us,
      event_bytes: figures.event_bytes,
      gateway_credential_kib: figures.gateway_credential_kib,
    });
  });

  test("cannot come from an incomplete run", () => {
    for (const name of Object.keys(benches)) {
      expect(() => figuresFrom({ ...benches, [name]: undefined }, others, "")).toThrow();
    }
    expect(() => figuresFrom({ ...benches, memory: { goals: [] } }, others, "")).toThrow(
      "an idle event stream",
    );
    expect(() => figuresWith(others, { ...speed, rows: [] })).toThrow("public");
  });

  test.skipIf(given === undefined)(
    "from the given benchmark output are close to those of the page",
    async () => {
      const found = figuresFrom(await Bun.file(given ?? "").json(), others, "");
      const far = Object.entries(found).filter(([name, value]) => {
        const before = Object.entries(figures).find(([each]) => each === name)?.[1];
        if (typeof value !== "number" || typeof before !== "number") return false;
        return Math.max(value / before, before / value) > FACTOR_MAX;
      });
      expect(far).toEqual([]);
    },
  );
});

describe("a plan", () => {
  const demands = fc.record({
    requests_per_second: fc.integer({ min: 1, max: 1_000_000 }),
    limitedShare: fc.double({ min: 0, max: 0.5, noNaN: true }),
    auditedShare: fc.double({ min: 0, max: 0.5, noNaN: true }),
    credentials: fc.integer({ min: 0, max: 10_000_000 }),
    cacheTtlSeconds: fc.integer({ min: 1, max: 86_400 }),
    routes: fc.integer({ min: 0, max: 100_000 }),
    streams: fc.integer({ min: 0, max: 1_000_000 }),
    retentionDays: fc.integer({ min: 1, max: 3_650 }),
  });
  const grown: (keyof Demand)[] = ["requests_per_second", "routes", "streams", "retentionDays"];

  test("for a larger demand never has less of a resource", () => {
    fc.assert(
      fc.property(demands, fc.constantFrom(...grown), (demand, field) => {
        const [less, more] = [demand, { ...demand, [field]: demand[field] * 2 }].map((each) =>
          planFor(each, figures),
        );
        for (const [name, value] of Object.entries(less ?? {})) {
          // The memory of each gateway may shrink, because more gateways share the streams.
          if (typeof value !== "number" || name === "gatewayMemoryMib") continue;
          const after = Object.entries(more ?? {}).find(([each]) => each === name)?.[1];
          expect(Number(after)).toBeGreaterThanOrEqual(value);
        }
      }),
    );
  });

  test("keeps the other gateways below their maximum load while one is down", () => {
    fc.assert(
      fc.property(demands, (demand) => {
        const { gateways } = planFor(demand, figures);
        const slowest = Math.max(
          figures.gateway_public_us,
          figures.gateway_limited_us,
          figures.gateway_audited_us,
        );
        const busy = (demand.requests_per_second * figures.gateway_public_us) / 1e6 / (gateways - 1);
        expect(busy).toBeLessThanOrEqual(BUSY_MAX * 1.000001);
        expect(gateways).toBeLessThanOrEqual(2 + (demand.requests_per_second * slowest) / 1e6 / BUSY_MAX);
      }),
    );
  });

  test("has at least two gateways, two identity services and two audit services", () => {
    for (const rate of [1, ...RATES]) {
      const { gateways, identities, audits } = planFor(demandOf(rate), figures);
      expect(Math.min(gateways, identities, audits)).toBeGreaterThanOrEqual(2);
    }
  });

  test("includes the memory of the credentials that each gateway caches", () => {
    const demand = demandOf(10_000);
    const [few, many] = [0, 1_000_000].map((credentials) => planFor({ ...demand, credentials }, figures));
    const grown = Number(many?.gatewayMemoryMib) - Number(few?.gatewayMemoryMib);
    expect(grown).toBeGreaterThan((0.9 * 1_000_000 * figures.gateway_credential_kib) / 1024);
  });

  test("never has more validations than requests", () => {
    const demand = { ...demandOf(1_000), credentials: 10_000_000, cacheTtlSeconds: 1 };
    expect(planFor(demand, figures).validationsPerSecond).toBe(900);
  });
});

function goal(title: string, median: number) {
  return { title, value: { median, min: median, max: median } };
}
