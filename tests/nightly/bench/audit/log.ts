import { join } from "node:path";
import { auditVariables } from "@ostiary/audit/config";
import { systemClock } from "@ostiary/lib/async";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { type Database, openDatabase } from "@ostiary/lib/runtime/stores/database";
import { createTelemetry } from "@ostiary/lib/runtime/telemetry";
import { makePartitions } from "../../../../apps/audit/events/partitions-sql.ts";
import { SignedRoots } from "../../../../apps/audit/proof/root/signed-root.ts";
import type { PassDeps } from "../../../../apps/audit/proof/seal/pass-deps.ts";
import { newMemory } from "../../../../apps/audit/proof/seal/read-pass.ts";
import { sealAll as seal } from "../../../../apps/audit/proof/seal/seal-all.ts";
import { EventWriter } from "../../../../apps/audit/writes/write-commands.ts";
import { exampleIntent } from "../../../support/audit/example-intent.ts";
import { ROOT } from "../../../support/root.ts";
import { runSql } from "../../../support/stores/sql.ts";

const MIGRATIONS = join(ROOT, "drizzle/audit");
/** The number of events in one batch: as many as `EventWriter` inserts with one statement. */
export const GROUP = 256;
const GROUPS = 40;

export async function openLog(url: string, name: string) {
  await runSql(url, `create database ${name}`);
  const address = new URL(url);
  address.pathname = `/${name}`;
  const log = await openDatabase(address.href, { namespace: "audit", plan_cache_mode: "force_custom_plan" });
  await log.migrate("audit", MIGRATIONS);
  await makePartitions(log, Date.now());
  return { url: address.href, log, [Symbol.asyncDispose]: () => log.close() };
}

/** Writes `groups` batches of events, intents first and then outcomes, for a thousand organizations. */
export async function writeGroups(log: Database, groups = GROUPS): Promise<void> {
  const writer = new EventWriter({
    database: log,
    clock: systemClock,
    keepPartitions: async () => {},
    tracing: undefined,
  });
  for (let group = 0; group < groups; group++) {
    const ids = Array.from({ length: GROUP }, () => crypto.randomUUID());
    await writer.intents(
      ids.map((request_id, n) => ({
        request_id,
        intent: { ...exampleIntent, organization_id: `organization-${(group * GROUP + n) % 1_000}` },
      })),
    );
    await writer.outcomes(
      ids.map((request_id) => ({
        request_id,
        outcome: { outcome: "responded" as const, status: 200, details: { name: { from: "a", to: "b" } } },
      })),
    );
  }
}

export async function sealAll(log: Database): Promise<void> {
  const config = loadConfig(auditVariables, { DATABASE_URL: "pglite://memory", LOG_FILE: "/dev/null" });
  const origin = config.AUDIT_LOG_ORIGIN;
  const deps: PassDeps = {
    reads: log,
    writes: log,
    memory: newMemory(new SignedRoots(null, origin)),
    origin,
    clock: systemClock,
    log: (await createTelemetry({ name: "audit", namespace: "audit" }, config)).log,
    holder: "bench",
  };
  await seal(deps);
}

export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}
