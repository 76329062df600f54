import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { waitFor } from "../../support/time/wait-for.ts";
import type { Bench } from "./bench.ts";
import { publish } from "./gateway/catalog.ts";
import { caller, startIdentity } from "./gateway/identity.ts";
import { Bed, type ServiceProcess } from "./measure/bed.ts";
import { type Goal, judge } from "./measure/goal-table.ts";
import { inRounds, type MeasuredWay, valuesOf, type Way } from "./measure/rounds.ts";
import { ratiosOf, spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";
import { CONNECTIONS } from "./measure/wrk.ts";

const RATE: Goal = { title: "audited POST / unaudited, 64 connections", bound: 0.45 };
const CPU: Goal = { title: "CPU of an audited POST, 64 connections, µs", bound: 250, at_most: true };
const ADDED: Goal = { title: "added p50 of an audited POST, one at a time, ms", bound: 1.5, at_most: true };

/** Measures the CPU time and latency that auditing adds to a request, with `fsync` on in PostgreSQL. */
export const audited: Bench = {
  summary: "an audited POST through gateway and audit, compared with the same POST unaudited",
  async run(options) {
    await using bed = new Bed(["wrk", "etcd", "redis-server"]);
    options.progress("starting gateway and audit");
    await using identity = await startIdentity();
    using upstream = startUpstream();
    const started = await startServices(bed, identity, `http://127.0.0.1:${upstream.port}`);
    const plan = options.quick ? { rounds: 2, seconds: 2 } : { rounds: 7, seconds: 4 };
    const [many, manyAudited, one, oneAudited] = await inRounds(waysOf(started), plan, options);
    if (!many || !manyAudited || !one || !oneAudited)
      throw new Error("One of the four loads was not measured.");
    const [p50, p50Audited] = [valuesOf(one, "p50_ms"), valuesOf(oneAudited, "p50_ms")];
    const goals = [
      judge(
        RATE,
        ratiosOf(valuesOf(manyAudited, "requests_per_second"), valuesOf(many, "requests_per_second")),
      ),
      judge(CPU, spreadOf(manyAudited.samples.map((_, round) => cpuOf(manyAudited, round).all))),
      judge(ADDED, spreadOf(p50Audited.map((value, round) => value - (p50[round] ?? Number.NaN)))),
    ];
    const measured = [many, manyAudited, one, oneAudited];
    const parts = [
      `${plan.rounds} rounds of ${plan.seconds} s; everything shares the machine, PostgreSQL with fsync`,
      table(HEAD, measured.map(rowOf)),
    ];
    return { parts, goals, data: { plan, measured } };
  },
};

const HEAD = ["", "requests/s", "p50 ms", "p99 ms", "CPU µs: gateway", "audit", "PostgreSQL", "all"];

/** Returns the CPU time for one request in a round, by process and in total, in microseconds. */
function cpuOf({ samples, behind_us }: MeasuredWay, round: number) {
  const gateway = 1e6 / (samples[round]?.requests_per_cpu_second ?? Number.NaN);
  const [audit = 0, postgres = 0] = behind_us[round] ?? [];
  return { gateway, audit, postgres, all: gateway + audit + postgres };
}

function rowOf(way: MeasuredWay): string[] {
  const median = (figure: "requests_per_second" | "p50_ms" | "p99_ms") =>
    spreadOf(valuesOf(way, figure)).median;
  return [
    way.title,
    whole(median("requests_per_second")),
    median("p50_ms").toFixed(2),
    median("p99_ms").toFixed(2),
    ...(["gateway", "audit", "postgres", "all"] as const).map((part) =>
      whole(spreadOf(way.samples.map((_, round) => cpuOf(way, round)[part])).median),
    ),
  ];
}

interface Services {
  readonly gateway: ServiceProcess;
  /** The process ids of the audit service and of PostgreSQL, in this order. */
  readonly behind: readonly number[];
}

function waysOf({ gateway: { pid, url }, behind }: Services): Way[] {
  const target = { pid, url, method: "POST", headers: { "X-API-Key": caller.key } };
  const way = (title: string, path: string, connections: number): Way => ({
    title,
    connections,
    behind,
    target: { ...target, paths: [path] },
  });
  return [
    way("unaudited, 64 at once", "/org/plain/1", CONNECTIONS),
    way("audited, 64 at once", "/org/recorded/1", CONNECTIONS),
    way("unaudited, one at a time", "/org/plain/1", 1),
    way("audited, one at a time", "/org/recorded/1", 1),
  ];
}

function startUpstream() {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    reusePort: false,
    fetch: () => new Response("made", { status: 201 }),
  });
}

async function startServices(
  bed: Bed,
  identity: { issuer: string; jwks_uri: string; validateUrl: string },
  upstreamUrl: string,
): Promise<Services> {
  const [database, etcd, redis] = [await bed.database(), await bed.etcd(), await bed.redis()];
  const audit = await bed.process("apps/audit/main.ts", { DATABASE_URL: database.url });
  const routes: StoredServiceConfig = {
    url: upstreamUrl,
    organization: {
      routes: ["plain", "recorded"].map((collection) => ({
        path: `/org/${collection}/{id}`,
        upstream: `/organizations/{subject.organization_id}/${collection}/{path.id}`,
        methods: ["POST" as const],
        rate_limit: false as const,
        audit: collection === "recorded",
      })),
    },
  };
  await publish(etcd.url, [["things", routes]]);
  const gateway = await bed.process("apps/gateway/main.ts", {
    ROUTE_STORE_URL: etcd.url,
    COUNTER_STORE_URL: redis.url,
    AUTH_ISSUER: identity.issuer,
    AUTH_JWKS_URI: identity.jwks_uri,
    CREDENTIAL_VALIDATE_URL: identity.validateUrl,
    AUDIT_URL: audit.internalUrl,
  });
  await waitFor(async () => (await fetch(`${gateway.internalUrl}/health/ready`)).ok, {
    what: "the gateway to be ready",
  });
  if (database.pid === undefined) throw new Error("PostgreSQL is not running.");
  return { gateway, behind: [audit.pid, database.pid] };
}
