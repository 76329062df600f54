import { readFileSync } from "node:fs";
import { join } from "node:path";
import { auditVariables } from "@ostiary/audit/config";
import { makePartitions } from "@ostiary/audit/partitions/commands";
import { type PassDeps, sealPass } from "@ostiary/audit/sealing/commands";
import { selectState } from "@ostiary/audit/sealing/state-queries";
import { SealedState } from "@ostiary/audit/sealing/trust";
import { EventWriter } from "@ostiary/audit/writes/commands";
import { systemClock } from "@ostiary/lib/async";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { type Database, openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { sql } from "drizzle-orm";
import postgres from "postgres";
import { BUSY_ORGANIZATION, generateLog } from "../app/audit/generated-log.ts";
import { AuditBed } from "./audit/bed.ts";
import { takeovers } from "./audit/takeover.ts";
import { exampleIntent } from "./audit/writers.ts";
import type { Bench } from "./bench.ts";
import { describeMachine, machineLine } from "./measure/machine.ts";
import { ratiosOf, spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";

const MIGRATIONS = join(import.meta.dir, "../../drizzle/audit");
/** The number of events that fill one statement of the writer. */
const GROUP = 256;
const GROUPS = 40;
const DAY_MS = 86_400_000;
/** The rate that sealing must keep up with, and the cost that a writer may pay for it. */
const EVENTS_PER_SECOND_MIN = 5_000;
const COST_MAX = 1.05;
/** The longest time for which a killed sealer may leave the log unsealed. */
const TAKEOVER_S_MAX = 5;

/**
 * Measures the cost of the audit log's proof for writers, and how fast it is sealed, exported and verified.
 */
export const proof: Bench = {
  summary: "what the audit log's proof costs writers, and how fast it is sealed, exported and verified",
  async run({ quick, progress }) {
    const machine = describeMachine();
    await using bed = new AuditBed([]);
    const { url } = await bed.database();
    const directory = await bed.directory();
    const rounds = quick ? 4 : 20;
    const events = quick ? 50_000 : 1_000_000;
    const ratio = await writersCost(url, rounds, progress);
    const sealed = await sealing(url, quick ? 20 : 100, progress);
    const many = await sealingMany(url, quick ? 20_000 : 100_000, progress);
    const checked = await verifying(url, directory, bed, events, progress);
    const taken_s = spreadOf(await takingOver(url, bed, quick ? 2 : 5, progress));
    const rows = [
      [
        "CPU of writing with proof, over salts alone",
        `${ratio.median.toFixed(3)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`,
        `below ${COST_MAX}`,
      ],
      ["events sealed a second", whole(sealed.events_per_second), `above ${EVENTS_PER_SECOND_MIN}`],
      ["CPU of the sealing process for an event, µs", whole(sealed.cpu_us), ""],
      [
        `events sealed a second, each in another one of ${whole(many.logs)} logs`,
        whole(many.events_per_second),
        `above ${EVENTS_PER_SECOND_MIN}`,
      ],
      ["CPU of the sealing process for one of them, µs", whole(many.cpu_us), ""],
      ["nodes of the map of heads for one of them", many.nodes.toFixed(1), ""],
      [`export of ${whole(checked.events)} events, s`, checked.export_s.toFixed(1), ""],
      ["verification of them, s", checked.verify_s.toFixed(1), ""],
      ["the most memory it took, MiB", whole(checked.verify_mib), ""],
      [
        "a replica that seals is killed: s to the next checkpoint",
        `${taken_s.median.toFixed(1)} (${taken_s.min.toFixed(1)}..${taken_s.max.toFixed(1)})`,
        `below ${TAKEOVER_S_MAX}`,
      ],
    ];
    return {
      text: [machineLine(machine), "", table(["", "measured", "goal"], rows)].join("\n"),
      data: { machine, rounds, events, ratio, sealed, many, checked, taken_s },
    };
  },
};

type Progress = (line: string) => void;

/** Keeps only the salts of the proof. */
const WITHOUT_PROOF = [
  "drop index audit.intents_by_xid",
  "drop index audit.events_by_outcome_xid",
  "alter table audit.audit_events alter column intent_xid drop default",
  "alter table audit.request_ids alter column xid drop default",
  `create or replace function audit.refuse_all_but_outcome() returns trigger language plpgsql as $$
    declare
      kept record;
    begin
      if old.outcome = 'pending' and new.outcome <> 'pending' then
        kept := new;
        kept.outcome := old.outcome;
        kept.status := old.status;
        kept.details := old.details;
        kept.created_id := old.created_id;
        kept.outcome_salt := old.outcome_salt;
        if old.user_id is not null and old.organization_id is null then
          kept.organization_id := old.organization_id;
          kept.actor_member_id := old.actor_member_id;
        end if;
        if kept *= old then
          return new;
        end if;
      end if;
      raise exception 'refused';
    end
    $$`,
  "alter function audit.refuse_all_but_outcome() set search_path = pg_catalog, pg_temp",
];

/**
 * Returns the cost of groups of intents and outcomes in a log with proof divided by one without, pair by
 * pair.
 */
async function writersCost(url: string, rounds: number, progress: Progress) {
  await using before = await openLog(url, "without_proof");
  for (const statement of WITHOUT_PROOF)
    await before.log.run("forget", (orm) => rows(orm, sql.raw(statement)));
  await using after = await openLog(url, "with_proof");
  const costs: { before: number[]; after: number[] } = { before: [], after: [] };
  for (let round = -1; round < rounds; round++) {
    const first = round % 2 === 0;
    const a = await cpuOf(first ? before.log : after.log, writeGroups);
    const b = await cpuOf(first ? after.log : before.log, writeGroups);
    if (round < 0) continue; // warms up
    costs.before.push(first ? a : b);
    costs.after.push(first ? b : a);
    progress(`writers, round ${round + 1} of ${rounds}: ${(first ? b / a : a / b).toFixed(3)}`);
  }
  return ratiosOf(costs.after, costs.before);
}

/** Returns the CPU time of `work` here and in the server's processes for this database, in clock ticks. */
async function cpuOf(log: Database, work: (log: Database) => Promise<void>): Promise<number> {
  const pids = await log.run("pids", (orm) =>
    rows<{ pid: number }>(
      orm,
      sql`select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`,
    ),
  );
  const spent = () =>
    [...pids.map(({ pid }) => pid), process.pid].reduce((sum, pid) => sum + ticksOf(pid), 0);
  const started = spent();
  await work(log);
  return spent() - started;
}

/** Returns user and system time of a process. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The fields follow the command name in parentheses: state, parent, ...
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

export async function openLog(url: string, name: string) {
  const administrator = postgres(url, { max: 1, onnotice: () => {} });
  await administrator.unsafe(`create database ${name}`);
  await administrator.end();
  const address = new URL(url);
  address.pathname = `/${name}`;
  const log = await openDatabase(address.href, { namespace: "audit", plan_cache_mode: "force_custom_plan" });
  await log.migrate("audit", MIGRATIONS);
  await makePartitions(log, Date.now());
  return { url: address.href, log, [Symbol.asyncDispose]: () => log.close() };
}

/** Writes intents with their outcomes, of a thousand organizations. */
async function writeGroups(log: Database, groups = GROUPS): Promise<void> {
  const writer = new EventWriter({
    database: log,
    clock: systemClock,
    keepPartitions: async () => {},
    tracing: undefined,
  });
  for (let group = 0; group < groups; group++) {
    const ids = Array.from({ length: GROUP }, () => crypto.randomUUID());
    await Promise.all(
      ids.map((id, n) =>
        writer.intent(id, {
          ...exampleIntent,
          organization_id: `organization-${(group * GROUP + n) % 1_000}`,
        }),
      ),
    );
    await writer.outcomes(
      ids.map((request_id) => ({
        request_id,
        outcome: { outcome: "responded" as const, status: 200, details: { name: { from: "a", to: "b" } } },
      })),
    );
  }
}

/** Returns the events that a sealer seals in a second when more wait than it can seal. */
async function sealing(url: string, groups: number, progress: Progress) {
  await using sealed = await openLog(url, "sealed");
  progress(`writing ${whole(groups * GROUP)} events to seal`);
  await writeGroups(sealed.log, groups);
  const cpu = process.cpuUsage();
  const taken_ms = await timeOf(() => sealAll(sealed.log));
  const { user, system } = process.cpuUsage(cpu);
  const events = groups * GROUP;
  return { events, events_per_second: (events / taken_ms) * 1000, cpu_us: (user + system) / events };
}

/** The number of events that one statement writes, and of those that are measured. */
const INSERTED = 2_500;
const MEASURED = 20_000;

/** Returns the events that a sealer seals in a second when each moves another one of many logs. */
async function sealingMany(url: string, logs: number, progress: Progress) {
  await using many = await openLog(url, "many");
  progress(`sealing the first event of each of ${whole(logs)} logs`);
  for (let from = 0; from < logs; from += INSERTED) {
    await insertEvents(many.log, from, logs);
    if (from % (10 * INSERTED) === 0) await sealAll(many.log);
  }
  await sealAll(many.log);
  const before = await nodesOf(many.log);
  progress(`sealing ${whole(MEASURED)} events of other logs each`);
  for (let from = logs; from < logs + MEASURED; from += INSERTED) await insertEvents(many.log, from, logs);
  const cpu = process.cpuUsage();
  const taken_ms = await timeOf(() => sealAll(many.log));
  const { user, system } = process.cpuUsage(cpu);
  const nodes = ((await nodesOf(many.log)) - before) / MEASURED;
  return { logs, events_per_second: (MEASURED / taken_ms) * 1000, cpu_us: (user + system) / MEASURED, nodes };
}

/** Writes events as a writer does, each of another log. */
async function insertEvents(log: Database, from: number, logs: number): Promise<void> {
  await log.run("insert_events", (orm) =>
    rows(
      orm,
      sql`with made as (
          insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service, method,
            route, params, ip)
          select lpad(n::text, 26, '0'), 'request-' || n, now(), 'organization-' || n % ${logs}::integer, 'jwt', 's',
            'GET', '/', '{}', '::'
          from generate_series(${from}::integer, ${from + INSERTED - 1}::integer) n
          returning id, request_id, occurred_at)
        insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made`,
    ),
  );
}

async function nodesOf(log: Database): Promise<number> {
  const [found] = await log.run("count_nodes", (orm) =>
    rows<{ count: number }>(orm, sql`select count(*)::integer as count from audit.head_map`),
  );
  return found?.count ?? 0;
}

export async function sealAll(log: Database): Promise<void> {
  const config = loadConfig(auditVariables, { DATABASE_URL: "pglite://memory", LOG_FILE: "/dev/null" });
  const deps: PassDeps = {
    reads: log,
    writes: log,
    key: null,
    origin: "log.example/bench",
    sealed: new SealedState(log),
    clock: systemClock,
    log: (await createTelemetry({ name: "audit", namespace: "audit" }, config)).log,
    holder: "bench",
  };
  while ((await sealPass(deps, await selectState(log))).end === "behind");
}

/** Exports one owner's log with proof into a file, and verifies it by the command line. */
async function verifying(url: string, directory: string, bed: AuditBed, events: number, progress: Progress) {
  await using whole_ = await openLog(url, "verified");
  progress("generating a large log");
  await generateLog(whole_.log, { events: events * 2.1, end_ms: Date.now(), span_ms: 20 * DAY_MS });
  progress("sealing it");
  await sealAll(whole_.log);
  const service = await bed.service(whole_.url);
  const file = join(directory, "export.ndjson");
  progress("exporting it");
  const path = `/organizations/${BUSY_ORGANIZATION}/audit-events?proof=true`;
  const export_ms = await timeOf(async () => {
    await Bun.write(file, await fetch(`${service.url}${path}`));
  });
  progress("verifying it");
  const started_ms = performance.now();
  const child = Bun.spawn([process.execPath, "apps/cli/main.ts", "--json", "audit", "verify", file], {
    cwd: join(import.meta.dir, "../.."),
    stdout: "pipe",
  });
  const verdict = JSON.parse(await new Response(child.stdout).text());
  await child.exited;
  if (verdict.complete !== true) throw new Error(JSON.stringify(verdict.faults[0]));
  return {
    events: Number(verdict.events),
    export_s: export_ms / 1000,
    verify_s: (performance.now() - started_ms) / 1000,
    verify_mib: (child.resourceUsage()?.maxRSS ?? Number.NaN) / 1_048_576,
  };
}

async function takingOver(url: string, bed: AuditBed, times: number, progress: Progress): Promise<number[]> {
  await using log = await openLog(url, "taken_over");
  progress(`killing ${times} sealers`);
  return takeovers(bed, log.url, times);
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started_ms = performance.now();
  await work();
  return performance.now() - started_ms;
}
