import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import stored from "../../bench/capacity/figures.json" with { type: "json" };
import { Figures, figuresFrom } from "../../bench/capacity/figures.ts";
import { BUSY_MAX, type Demand, planFor } from "../../bench/capacity/model.ts";
import { demandOf, generatedParts, pageWith, RATES } from "../../bench/capacity/page.ts";

const figures = Value.Parse(Figures, stored);
const page = await Bun.file(join(import.meta.dir, "../../../.github/guides/capacity.md")).text();

/** What `bun run bench all --json` wrote, where one is given: its figures are to be near those of the page. */
const given = process.env.BENCH_JSON;
/** Runs of one machine differ by so much. */
const FACTOR_MAX = 1.5;

test("the page shows what the model makes of the figures", () => {
  expect(pageWith(page, figures)).toBe(page);
});

test("a page that lacks a place for a table is refused", () => {
  for (const name of generatedParts(figures).keys()) {
    expect(() => pageWith(page.replace(`<!-- /${name} -->`, ""), figures)).toThrow(name);
  }
});

describe("figures", () => {
  const benches = {
    machine: { cpu: "A", cores: 2, bun: "1", load_average: 0 },
    gateway: {
      figures: ["public", "whole_job"].map((name, index) => ({
        name,
        requests_per_cpu_second: { median: 10_000 / (index + 1), min: 1, max: 20_000 },
      })),
    },
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

  test("are taken from a run of all benches, and what no bench tells stays", () => {
    expect(figuresFrom(benches, figures, "2026-01-01")).toEqual({
      taken: "2026-01-01, A, 2 cores, Bun 1, load average 0",
      gateway_public_us: 100,
      gateway_limited_us: 200,
      gateway_audited_us: 200,
      gateway_base_mib: 100,
      gateway_route_kib: 2.05,
      gateway_stream_kib: 17,
      gateway_edit_stall_ms: 4,
      identity_validation_us: 50,
      postgres_validation_us: 20,
      redis_count_us: figures.redis_count_us,
      audit_event_us: figures.audit_event_us,
      postgres_event_us: figures.postgres_event_us,
      event_bytes: figures.event_bytes,
    });
  });

  test("of a run that is not whole are refused", () => {
    for (const name of Object.keys(benches)) {
      expect(() => figuresFrom({ ...benches, [name]: undefined }, figures, "")).toThrow();
    }
    expect(() => figuresFrom({ ...benches, gateway: { figures: [] } }, figures, "")).toThrow("public");
  });

  test.skipIf(given === undefined)(
    "of the benches' output that is given are near those of the page",
    async () => {
      const found = figuresFrom(await Bun.file(given ?? "").json(), figures, "");
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
    limited_share: fc.double({ min: 0, max: 0.5, noNaN: true }),
    audited_share: fc.double({ min: 0, max: 0.5, noNaN: true }),
    credentials: fc.integer({ min: 0, max: 10_000_000 }),
    cache_ttl_seconds: fc.integer({ min: 1, max: 86_400 }),
    routes: fc.integer({ min: 0, max: 100_000 }),
    streams: fc.integer({ min: 0, max: 1_000_000 }),
    retention_days: fc.integer({ min: 1, max: 3_650 }),
  });
  const grown: (keyof Demand)[] = ["requests_per_second", "routes", "streams", "retention_days"];

  test("of more needs no less of anything", () => {
    fc.assert(
      fc.property(demands, fc.constantFrom(...grown), (demand, field) => {
        const [less, more] = [demand, { ...demand, [field]: demand[field] * 2 }].map((each) =>
          planFor(each, figures),
        );
        for (const [name, value] of Object.entries(less ?? {})) {
          // spread over more gateways, streams take less of each
          if (typeof value !== "number" || name === "gateway_memory_mib") continue;
          const after = Object.entries(more ?? {}).find(([each]) => each === name)?.[1];
          expect(Number(after)).toBeGreaterThanOrEqual(value);
        }
      }),
    );
  });

  test("keeps every gateway below its bound with one of them away", () => {
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

  test("never has a single one of what stands in the way of requests", () => {
    for (const rate of [1, ...RATES]) {
      const { gateways, identities, audits } = planFor(demandOf(rate), figures);
      expect(Math.min(gateways, identities, audits)).toBeGreaterThanOrEqual(2);
    }
  });

  test("validates no more often than requests come", () => {
    const demand = { ...demandOf(1_000), credentials: 10_000_000, cache_ttl_seconds: 1 };
    expect(planFor(demand, figures).validations_per_second).toBe(900);
  });
});

function goal(title: string, median: number) {
  return { title, value: { median, min: median, max: median } };
}
