import { withPart } from "../measure/page-part.ts";
import { markdownTable, whole } from "../measure/table.ts";
import { Figures } from "./figures.ts";
import { type Demand, type Plan, planFor } from "./model.ts";

/** The rates, in requests a second, that the capacity guide has plans for. */
export const RATES = [1_000, 10_000, 100_000];

export function demandOf(requests_per_second: number): Demand {
  return {
    requests_per_second,
    limitedShare: 0.8,
    auditedShare: 0.1,
    credentials: requests_per_second * 10,
    cacheTtlSeconds: 300,
    routes: 1_000,
    streams: requests_per_second,
    retentionDays: 90,
  };
}

type Row = readonly [title: string, of: (plan: Plan) => string];

const rows: readonly Row[] = [
  ["gateways", ({ gateways }) => whole(gateways)],
  ["credentials that each gateway keeps", ({ gatewayCredentials }) => whole(gatewayCredentials)],
  ["memory of each gateway, MiB", ({ gatewayMemoryMib }) => whole(gatewayMemoryMib)],
  ["Redis: masters, each with a replica", ({ redisShards }) => whole(redisShards)],
  ["validations a second", ({ validationsPerSecond }) => whole(validationsPerSecond)],
  ["identity: processes", ({ identities }) => whole(identities)],
  ["PostgreSQL of identity: cores", ({ identityPostgresCores }) => whole(identityPostgresCores)],
  ["events a second", ({ events_per_second }) => whole(events_per_second)],
  ["audit: processes", ({ audits }) => whole(audits)],
  ["PostgreSQL of audit: cores", ({ auditPostgresCores }) => whole(auditPostgresCores)],
  ["a month's partition, GiB", ({ partitionGib }) => whole(partitionGib)],
  ["disk for 90 days of events, GiB", ({ auditDiskGib }) => whole(auditDiskGib)],
  ["cores busy, all processes together", ({ busyCores }) => busyCores.toFixed(1)],
  ["gives way first", ({ firstToGiveWay }) => firstToGiveWay],
];

/** Returns a table with one column for each rate: its header, then its rows. */
export function plansOf(figures: Figures, rates: readonly number[] = RATES): [string[], string[][]] {
  const plans = rates.map((rate) => planFor(demandOf(rate), figures));
  const head = ["requests a second", ...rates.map((rate) => whole(rate))];
  return [head, rows.map(([title, of]) => [title, ...plans.map(of)])];
}

/** Returns a table row for each input figure: its description and its value. */
export function figureRows(figures: Figures): string[][] {
  return Object.entries(Figures.properties).flatMap(([name, { description = "" }]) =>
    name === "taken"
      ? []
      : [[description, shown(Object.entries(figures).find(([each]) => each === name)?.[1])]],
  );
}

function shown(value: unknown): string {
  return typeof value === "number" && value >= 1_000 ? whole(value) : String(value);
}

/** Returns a table row for each kind of work: how many operations one fully used core handles in a second. */
export function perCore(figures: Figures): string[][] {
  const row = (title: string, us: number) => [title, whole(Number((1e6 / us).toPrecision(2)))];
  return [
    row("gateway: public requests", figures.gateway_public_us),
    row("gateway: admitted, limited, rewritten", figures.gateway_limited_us),
    row("gateway: audited", figures.gateway_audited_us),
    row("Redis: counts", figures.redis_count_us),
    row("identity: validations", figures.identity_validation_us),
    row("audit: events", figures.audit_event_us),
    row("PostgreSQL: events", figures.postgres_event_us),
  ];
}

/** Returns the generated parts of the capacity guide, by the names of their markers in the page. */
function generatedParts(figures: Figures): Map<string, string> {
  return new Map([
    ["per-core", markdownTable(["One core carries each second", ""], perCore(figures))],
    ["plans", markdownTable(...plansOf(figures))],
    ["figures", `Taken ${figures.taken}.\n\n${markdownTable(["Figure", "Value"], figureRows(figures))}`],
  ]);
}

export function pageWith(page: string, figures: Figures): string {
  return [...generatedParts(figures)].reduce((text, [name, part]) => withPart(text, name, part), page);
}
