import { join } from "node:path";
import { openDatabase, sqlState } from "@ostiary/lib/runtime/stores/database";
import postgres from "postgres";
import { migrationsOf as migrationNames, writeMigrationsUntil } from "../support/older-schema.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { Bench, Progress } from "./bench.ts";
import { BenchImpossible } from "./measure/cores.ts";
import { describeMachine, machineLine } from "./measure/machine.ts";
import { ServiceBed } from "./measure/service-bed.ts";
import { table, whole } from "./measure/table.ts";
import { fillTable, prepareFilling } from "./migrations/fill.ts";
import { FILLS, type SchemaName, WRITES } from "./migrations/tables.ts";

const ROWS = 10_000_000;
const ROWS_QUICK = 1_000_000;
/** The `lock_timeout` of writers: the goal for the longest time that a migration may block a write. */
const LOCK_MS_MAX = 200;
const LOCK_NOT_AVAILABLE = "55P03";
/** How long writers run before a migration, to measure the longest write without a migration. */
const BEFORE_MS = 3_000;
const BETWEEN_MS = 5;

/** A migration, and the duration of the longest writes before and during it. */
interface Stall {
  readonly migration: string;
  readonly took_ms: number;
  /** The table with the longest write during the migration. */
  readonly worst: string;
  readonly stall_ms: number;
  readonly before_ms: number;
  /** The tables for which a write exceeded the lock timeout. */
  readonly locked: readonly string[];
}

const SCHEMAS: readonly SchemaName[] = ["routes", "identity", "audit"];

/**
 * Returns the bench `migrations`, which measures how long each migration delays concurrent writes.
 *
 * @param given the only database schema to measure; by default all
 */
export function migrationsOf(given?: string): Bench {
  return {
    summary:
      "the longest writes during each migration, with ten million rows in each large table (--quick: one million): migrations [SCHEMA]",
    async run({ quick, progress }) {
      const chosen = SCHEMAS.filter((schema) => given === undefined || schema === given);
      if (chosen.length === 0)
        throw new BenchImpossible(`There is no schema "${given}". Choose one of: ${SCHEMAS.join(", ")}.`);
      const machine = describeMachine();
      const rows = quick ? ROWS_QUICK : ROWS;
      await using bed = new ServiceBed([]);
      const stalls: Stall[] = [];
      for (const schema of chosen) {
        const { url } = await bed.database();
        stalls.push(
          ...(await stallsOf(schema, { url, rows, directory: temporaryFolder("bench"), progress })),
        );
      }
      return { text: textOf(machineLine(machine), rows, stalls), data: { machine, rows, stalls } };
    },
  };
}

interface Place {
  readonly url: string;
  readonly rows: number;
  readonly directory: string;
  readonly progress: Progress;
}

/**
 * Applies the migrations of a schema in sequence. During each migration, writers write to all existing
 * tables.
 */
async function stallsOf(schema: SchemaName, { url, rows, directory, progress }: Place): Promise<Stall[]> {
  const database = await openDatabase(url, {
    namespace: schema,
    poolMax: 3,
    statementTimeoutMs: 3_600_000,
  });
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await prepareFilling(sql);
  const stalls: Stall[] = [];
  for (const migration of await migrationNames(schema)) {
    const folder = join(directory, migration);
    await writeMigrationsUntil(folder, schema, migration);
    const found = await stallOf(url, schema, () => database.migrate(schema, folder));
    stalls.push({ migration: `${schema}/${migration}`, ...found });
    const { took_ms, worst, stall_ms } = found;
    progress(
      `${schema}/${migration}: took ${whole(took_ms)} ms; longest write: ${whole(stall_ms)} ms (${worst})`,
    );
    for (const fill of FILLS.filter(({ after, name }) => after === migration && isOf(schema, name))) {
      await fillTable(sql, fill, rows, progress);
    }
  }
  await sql.end();
  await database.close();
  return stalls;
}

/** Runs a migration, and returns the longest writes before and during it. */
async function stallOf(url: string, schema: SchemaName, migrate: () => Promise<unknown>) {
  await using writers = await Writers.start(url, schema);
  const beganMs = performance.now();
  await Bun.sleep(BEFORE_MS);
  const before = writers.longestSince(beganMs);
  const migratingMs = performance.now();
  await migrate();
  const took_ms = performance.now() - migratingMs;
  // A write's duration is known only when it ends, so wait for the writes that the migration delayed.
  await Bun.sleep(BEFORE_MS);
  const during = writers.longestSince(migratingMs);
  return {
    took_ms,
    worst: during.table,
    stall_ms: during.ms,
    before_ms: before.ms,
    locked: [...writers.locked],
  };
}

function isOf(schema: SchemaName, table: string): boolean {
  return table.startsWith(`${schema}.`);
}

/** One writer for each table, which writes repeatedly over its own connection and measures its writes. */
class Writers implements AsyncDisposable {
  readonly #waits: { readonly table: string; readonly endedMs: number; readonly ms: number }[] = [];
  readonly #running: Promise<void>[] = [];
  /** The tables for which a write exceeded the lock timeout. */
  readonly locked = new Set<string>();
  #isOver = false;

  /** Starts a writer for each table that exists. */
  static async start(url: string, schema: SchemaName): Promise<Writers> {
    const writers = new Writers();
    for (const { name, statement } of WRITES.filter((write) => isOf(schema, write.name))) {
      const sql = postgres(url, {
        max: 1,
        onnotice: () => {},
        connection: { lock_timeout: LOCK_MS_MAX },
      });
      const [found] = await sql.unsafe(`select to_regclass('${name}') is not null as exists`);
      if (found?.exists === true) writers.#running.push(writers.#write(sql, name, statement));
      else await sql.end();
    }
    return writers;
  }

  longestSince(sinceMs: number): { table: string; ms: number } {
    return this.#waits
      .filter(({ endedMs }) => endedMs >= sinceMs)
      .reduce((longest, wait) => (wait.ms > longest.ms ? wait : longest), { table: "none", ms: 0 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #write(sql: postgres.Sql, name: string, statement: string): Promise<void> {
    for (let number = 0; !this.#isOver; number += 1) {
      const beganMs = performance.now();
      await sql.unsafe(statement.replaceAll("$n", `${number}-${beganMs}`)).catch((error: unknown) => {
        if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
        this.locked.add(name);
      });
      const endedMs = performance.now();
      this.#waits.push({ table: name, endedMs, ms: endedMs - beganMs });
      await Bun.sleep(BETWEEN_MS);
    }
    await sql.end();
  }
}

function textOf(machine: string, rows: number, stalls: readonly Stall[]): string {
  const lines = stalls.map(({ migration, took_ms, worst, stall_ms, before_ms, locked }) => [
    migration,
    whole(took_ms),
    worst,
    whole(before_ms),
    whole(stall_ms),
    locked.length === 0 ? "none" : `missed: ${locked.join(", ")}`,
  ]);
  const head = [
    "migration",
    "took ms",
    "longest write",
    "before ms",
    "during ms",
    `blocked for over ${LOCK_MS_MAX} ms`,
  ];
  return [machine, `${whole(rows)} rows in each large table`, "", table(head, lines)].join("\n");
}
