import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { BUSY_ORGANIZATION, generateLog } from "../../app/audit/generated-log.ts";
import { ROOT } from "../../support/root.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { AuditBed } from "./audit/bed.ts";
import { openLog, sealAll, writeGroups } from "./audit/log.ts";
import { takeovers } from "./audit/takeover.ts";
import type { Bench, Progress } from "./bench.ts";
import { describeMachine, machineLine } from "./measure/machine.ts";
import { ratiosOf, spreadOf } from "./measure/statistics.ts";
import { table, whole } from "./measure/table.ts";
import { timeOf } from "./measure/time-of.ts";

const DAY_MS = 86_400_000;
/** The goal for the CPU time of writes with the proof, divided by the CPU time without. */
const COST_MAX = 1.05;
/** The goal for the seconds without a new signed root after a sealer is killed. */
const TAKEOVER_S_MAX = 5;

/** Measures what the proof costs writers of the audit log, and how fast a log is exported and verified. */
export const proof: Bench = {
  summary: "what the proof costs writers of the audit log, and how fast a log is exported and verified",
  async run({ quick, progress }) {
    const machine = describeMachine();
    await using bed = new AuditBed([]);
    const { url } = await bed.database();
    const directory = temporaryFolder("bench");
    const rounds = quick ? 4 : 20;
    const events = quick ? 50_000 : 1_000_000;
    const ratio = await writersCost(url, rounds, progress);
    const checked = await verifying(url, directory, bed, events, progress);
    const taken_s = spreadOf(await takingOver(url, bed, quick ? 2 : 5, progress));
    const rows = [
      [
        "CPU of a write, with proof / with salts only",
        `${ratio.median.toFixed(3)} (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`,
        `below ${COST_MAX}`,
      ],
      [`export of ${whole(checked.events)} events, s`, checked.export_s.toFixed(1), ""],
      ["verification of these events, s", checked.verify_s.toFixed(1), ""],
      ["peak memory of the verification, MiB", whole(checked.verify_mib), ""],
      [
        "from killing the sealer to the next signed root, s",
        `${taken_s.median.toFixed(1)} (${taken_s.min.toFixed(1)}..${taken_s.max.toFixed(1)})`,
        `below ${TAKEOVER_S_MAX}`,
      ],
    ];
    return {
      text: [machineLine(machine), "", table(["", "measured", "goal"], rows)].join("\n"),
      data: { machine, rounds, events, ratio, checked, taken_s },
    };
  },
};

/** The statements that remove the proof from a database, except for its salts. */
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
 * Returns the ratio of CPU time for writing events with and without proof. Both are measured in each round.
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

/**
 * Returns the CPU time of `work` in this process and in PostgreSQL's processes for this database, in clock
 * ticks.
 */
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

/** Returns the user and system time of a process, added up, in clock ticks. */
function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The command name is in parentheses and can contain spaces. The first field after it is field 3; utime is
  // 14.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

/**
 * Generates and seals a log, exports one organization's part with proof, and verifies the export with
 * `ostiary`.
 */
async function verifying(url: string, directory: string, bed: AuditBed, events: number, progress: Progress) {
  await using whole_ = await openLog(url, "verified");
  progress("generating a large log");
  await generateLog(whole_.log, { events: events * 2.1, endMs: Date.now(), spanMs: 20 * DAY_MS });
  progress("sealing the log");
  await sealAll(whole_.log);
  const service = await bed.service(whole_.url);
  const file = join(directory, "export.ndjson");
  progress("exporting the log");
  const path = `/organizations/${BUSY_ORGANIZATION}/audit-events?proof=true`;
  const exportMs = await timeOf(async () => {
    await Bun.write(file, await fetch(`${service.url}${path}`));
  });
  progress("verifying the export");
  const startedMs = performance.now();
  const child = Bun.spawn([process.execPath, "apps/cli/main.ts", "--json", "audit", "verify", file], {
    cwd: ROOT,
    stdout: "pipe",
  });
  const verdict = JSON.parse(await new Response(child.stdout).text());
  await child.exited;
  if (verdict.findings.some(({ code }: { code: string }) => code !== "no_signed_root")) {
    throw new Error(JSON.stringify(verdict.findings[0]));
  }
  return {
    events: Number(verdict.events),
    export_s: exportMs / 1000,
    verify_s: (performance.now() - startedMs) / 1000,
    verify_mib: (child.resourceUsage()?.maxRSS ?? Number.NaN) / 1_048_576,
  };
}

async function takingOver(url: string, bed: AuditBed, times: number, progress: Progress): Promise<number[]> {
  await using log = await openLog(url, "taken_over");
  progress(`killing ${times} sealers`);
  return takeovers(bed, log.url, times);
}
