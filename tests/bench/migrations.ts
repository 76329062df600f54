import { join } from "node:path";
import { openDatabase } from "@ostiary/lib/runtime/stores/database";
import postgres from "postgres";
import { migrationsOf, writeMigrationsUntil } from "../support/older-schema.ts";
import type { Bench } from "./bench.ts";
import { describeMachine, machineLine } from "./measure/machine.ts";
import { ServiceBed } from "./measure/service-bed.ts";
import { table, whole } from "./measure/table.ts";
import { FILLS, type Fill, type SchemaName, WRITES } from "./migrations/tables.ts";

const ROWS = 10_000_000;
const ROWS_QUICK = 1_000_000;
const GOAL_MS = 200;
/** The time in which writers show how long they wait without a migration. */
const BEFORE_MS = 3_000;
const BETWEEN_MS = 5;

/** A migration, and the longest waits of writers beside it. */
interface Stall {
  readonly migration: string;
  readonly took_ms: number;
  /** The table with the longest wait. */
  readonly worst: string;
  readonly stall_ms: number;
  readonly before_ms: number;
}

/** Measures how long each migration holds up writers. */
export const migrations: Bench = {
  summary: "the longest wait of writers beside each migration, with ten million rows (--quick: one million)",
  async run({ quick, progress }) {
    const machine = describeMachine();
    const rows = quick ? ROWS_QUICK : ROWS;
    await using bed = new ServiceBed([]);
    const stalls: Stall[] = [];
    for (const schema of ["routes", "identity", "audit"] as const) {
      const { url } = await bed.database();
      stalls.push(...(await stallsOf(schema, { url, rows, directory: await bed.directory(), progress })));
    }
    return { text: textOf(machineLine(machine), rows, stalls), data: { machine, rows, stalls } };
  },
};

interface Place {
  readonly url: string;
  readonly rows: number;
  readonly directory: string;
  readonly progress: (line: string) => void;
}

/** Applies one migration after the other, each beside writers of the tables that exist then. */
async function stallsOf(schema: SchemaName, { url, rows, directory, progress }: Place): Promise<Stall[]> {
  const database = await openDatabase(url, {
    namespace: schema,
    pool_max: 3,
    statement_timeout_ms: 3_600_000,
  });
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const stalls: Stall[] = [];
  for (const migration of await migrationsOf(schema)) {
    const folder = join(directory, migration);
    await writeMigrationsUntil(folder, schema, migration);
    await using writers = await Writers.start(url, schema);
    const began_ms = performance.now();
    await Bun.sleep(BEFORE_MS);
    const before = writers.longestSince(began_ms);
    const migrating_ms = performance.now();
    await database.migrate(schema, folder);
    const took_ms = performance.now() - migrating_ms;
    // A write that waits now tells its time when it ends.
    await Bun.sleep(BEFORE_MS);
    const during = writers.longestSince(migrating_ms);
    const stall = { migration: `${schema}/${migration}`, took_ms, worst: during.table, stall_ms: during.ms };
    stalls.push({ ...stall, before_ms: before.ms });
    progress(
      `${stall.migration}: ${whole(took_ms)} ms, writers of ${during.table} waited ${whole(during.ms)} ms`,
    );
    for (const fill of FILLS.filter(({ after }) => after === migration))
      await fillTable(sql, fill, rows, progress);
  }
  await sql.end();
  await database.close();
  return stalls;
}

async function fillTable(
  sql: postgres.Sql,
  { name, statements }: Fill,
  rows: number,
  progress: (line: string) => void,
): Promise<void> {
  progress(`filling ${name} with ${whole(rows)} rows`);
  for (const statement of statements(rows)) await sql.unsafe(statement);
  await sql.unsafe(`vacuum analyze ${name}`);
}

/** Writers that write each table again and again, each on its own connection. */
class Writers implements AsyncDisposable {
  readonly #waits: { readonly table: string; readonly ended_ms: number; readonly ms: number }[] = [];
  readonly #running: Promise<void>[] = [];
  #is_over = false;

  /** Starts a writer for each table that exists. */
  static async start(url: string, schema: SchemaName): Promise<Writers> {
    const writers = new Writers();
    for (const { name, statement } of WRITES.filter((write) => write.name.startsWith(`${schema}.`))) {
      const sql = postgres(url, { max: 1, onnotice: () => {} });
      const [found] = await sql.unsafe(`select to_regclass('${name}') is not null as exists`);
      if (found?.exists === true) writers.#running.push(writers.#write(sql, name, statement));
      else await sql.end();
    }
    return writers;
  }

  longestSince(since_ms: number): { table: string; ms: number } {
    return this.#waits
      .filter(({ ended_ms }) => ended_ms >= since_ms)
      .reduce((longest, wait) => (wait.ms > longest.ms ? wait : longest), { table: "none", ms: 0 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#is_over = true;
    await Promise.all(this.#running);
  }

  async #write(sql: postgres.Sql, name: string, statement: string): Promise<void> {
    for (let number = 0; !this.#is_over; number += 1) {
      const began_ms = performance.now();
      await sql.unsafe(statement.replaceAll("$n", `${number}-${began_ms}`));
      const ended_ms = performance.now();
      this.#waits.push({ table: name, ended_ms, ms: ended_ms - began_ms });
      await Bun.sleep(BETWEEN_MS);
    }
    await sql.end();
  }
}

function textOf(machine: string, rows: number, stalls: readonly Stall[]): string {
  const lines = stalls.map(({ migration, took_ms, worst, stall_ms, before_ms }) => [
    migration,
    whole(took_ms),
    worst,
    whole(before_ms),
    whole(stall_ms),
    stall_ms <= GOAL_MS ? "" : "missed",
  ]);
  const head = ["migration", "took ms", "longest wait", "before ms", "beside ms", `at most ${GOAL_MS}`];
  return [machine, `${whole(rows)} rows in each large table`, "", table(head, lines)].join("\n");
}
