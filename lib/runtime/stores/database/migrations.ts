import { type SQL, sql } from "drizzle-orm";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { pause, systemClock } from "../../../async/index.ts";
import { sqlState } from "./failure.ts";
import { buildIndex } from "./index-build.ts";
import { type Step, stepsOf } from "./migration-steps.ts";
import { type Orm, rows } from "./orm.ts";

export interface MigrationAccess {
  /** Runs `work` in one transaction. Each of its statements waits at most `lockMs` for a lock. */
  transaction<T>(work: (tx: Orm) => Promise<T>, lockMs?: number): Promise<T>;
  /** Runs `work` on a connection of its own; null for a database without concurrent writers. */
  readonly outside: (<T>(work: (orm: Orm) => Promise<T>) => Promise<T>) | null;
}

/** The maximum wait of a step for a lock. Writers queue behind a waiting step, so the step gives up and is retried. */
const LOCK_MS = 100;
const PAUSE_MS = 250;
/** The time for which migrations are retried while another session holds a lock that they need. */
const LOCKED_MS_MAX = 600_000;
/** The maximum time that a start waits while another replica applies migrations. */
const MIGRATING_MS_MAX = 3_600_000;
const LOCK_NOT_AVAILABLE = "55P03";
const DEADLOCK_DETECTED = "40P01";

/**
 * Applies the migrations of `folder` that the journal of `schema` lacks. A new schema gets all in one transaction, an
 * existing schema step by step, so that locks are held only during a step (OP-76, OP-68). An advisory lock serializes
 * replicas that start together. Throws for an edited migration, for a schema of 0.x (OP-122), and if an applied
 * migration that is not in the folder refuses older versions (OP-96). Returns the number of such migrations.
 */
export async function applyMigrations(
  access: MigrationAccess,
  schema: string,
  folder: string,
): Promise<number> {
  const plan = {
    schema,
    folder,
    journal: sql`${sql.identifier(schema)}.${sql.identifier("schema_migrations")}`,
    migrations: migrationsIn(folder),
  };
  try {
    return await retryWhileBusy(() => applyMissing(access, plan), schema);
  } catch (error) {
    const refusal = REFUSALS[sqlState(error) ?? ""];
    throw refusal === undefined ? error : new Error(refusal.replace("{schema}", schema));
  }
}

interface Migration {
  readonly sql: readonly string[];
  readonly folderMillis: number;
  readonly hash: string;
  /** Why versions without this migration cannot serve the schema afterwards, or null if they can. */
  readonly refuses_older: string | null;
}

const REFUSES_OLDER = /^-- refuses older versions: (.+)$/m;

function migrationsIn(folder: string): Migration[] {
  return readMigrationFiles({ migrationsFolder: folder }).map((each) => {
    const [, refuses_older = null] = REFUSES_OLDER.exec(each.sql[0] ?? "") ?? [];
    return { ...each, refuses_older };
  });
}

interface Plan {
  readonly schema: string;
  readonly folder: string;
  readonly journal: SQL;
  readonly migrations: readonly Migration[];
}

interface Applied {
  readonly hash: string;
  readonly steps_done: number | null;
  readonly refuses_older: string | null;
}

type Journal = ReadonlyMap<number, Applied>;

/** Messages for problems that an operator must solve before the service can start, by SQLSTATE. */
const REFUSALS: Readonly<Record<string, string>> = {
  "42501":
    "The user of DATABASE_URL may not change schema {schema}: grant the user CREATE on the database, make the user the schema's owner, or let the owner migrate first.",
  "25006": "The server of DATABASE_URL is read-only, like a standby: set DATABASE_URL to the primary.",
};

class Busy extends Error {}

async function retryWhileBusy<T>(work: () => Promise<T>, schema: string): Promise<T> {
  const beganMs = systemClock.elapsedMs();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const state = sqlState(error);
      const isBusy = error instanceof Busy || state === LOCK_NOT_AVAILABLE || state === DEADLOCK_DETECTED;
      if (!isBusy) throw error;
      const limitMs = error instanceof Busy ? MIGRATING_MS_MAX : LOCKED_MS_MAX;
      if (systemClock.elapsedMs() - beganMs > limitMs) {
        throw new Error(
          `The migrations of schema ${schema} have waited too long for a lock: end the session that holds the lock (see pg_locks), then start again.`,
          { cause: error },
        );
      }
      await pause(systemClock, PAUSE_MS * (1 + Math.random()));
    }
  }
}

async function applyMissing(access: MigrationAccess, plan: Plan): Promise<number> {
  const begun = await access.transaction((tx) => begin(tx, plan, access.outside !== null));
  if (begun.next === null) return newerThan(plan, begun.journal);
  const { migration, steps } = begun.next;
  for (
    let done = begun.journal.get(migration.folderMillis)?.steps_done ?? 0;
    done < steps.length;
    done += 1
  ) {
    const step = steps[done];
    if (step !== undefined) await applyStep(access, plan, { migration, step, done, count: steps.length });
  }
  return applyMissing(access, plan);
}

/** `next` is the migration to apply step by step, or null. */
interface Begun {
  readonly journal: Journal;
  readonly next: { readonly migration: Migration; readonly steps: readonly Step[] } | null;
}

async function begin(tx: Orm, plan: Plan, byStep: boolean): Promise<Begun> {
  const { schema, journal, migrations } = plan;
  // A service whose user may not change the schema can start, once the schema's owner has migrated it.
  const known = await readableJournal(tx, plan);
  refuseFormer(plan, known);
  if (known !== null && migrations.every((each) => isApplied(known, each)))
    return { journal: known, next: null };
  await lock(tx, schema);
  await createSchema(tx, schema);
  await rows(
    tx,
    sql`create table if not exists ${journal} (
      written_at_ms bigint primary key, hash text not null, applied_at timestamptz not null default now(),
      steps_done integer, refuses_older text)`,
  );
  const applied = await readJournal(tx, journal);
  for (const each of migrations) refuseEdited(plan, each, applied.get(each.folderMillis));
  const missing = migrations.filter((each) => !isApplied(applied, each));
  const [first] = missing;
  if (first !== undefined && byStep && applied.size > 0) {
    return { journal: applied, next: { migration: first, steps: await stepsOf(tx, first.sql) } };
  }
  for (const { sql: statements, folderMillis, hash, refuses_older } of missing) {
    for (const statement of statements) if (statement.trim() !== "") await rows(tx, sql.raw(statement));
    await rows(
      tx,
      sql`insert into ${journal} (written_at_ms, hash, refuses_older) values (${folderMillis}, ${hash}, ${refuses_older})`,
    );
  }
  return { journal: applied, next: null };
}

/** PostgreSQL demands CREATE on the database even for `if not exists`, which the schema's owner may lack. */
async function createSchema(tx: Orm, schema: string): Promise<void> {
  const [found] = await rows(tx, sql`select from pg_namespace where nspname = ${schema}`);
  if (found === undefined) await rows(tx, sql`create schema ${sql.identifier(schema)}`);
}

/** Takes the migration lock of a schema, or throws Busy: a waiting transaction would delay index builds. */
async function lock(tx: Orm, schema: string): Promise<void> {
  const [taken] = await rows<{ taken: boolean }>(
    tx,
    sql`select pg_try_advisory_xact_lock(${lockOf(schema)}) as taken`,
  );
  if (taken?.taken !== true) throw new Busy();
}

function lockOf(schema: string): SQL {
  return sql`hashtextextended(${`migrations of ${schema}`}, 0)`;
}

function isApplied(journal: Journal, { folderMillis, hash }: Migration): boolean {
  const found = journal.get(folderMillis);
  return found?.hash === hash && found.steps_done === null;
}

function refuseEdited({ folder }: Plan, { folderMillis, hash }: Migration, found: Applied | undefined): void {
  if (found === undefined || found.hash === hash) return;
  throw new Error(
    `A migration in ${folder} (when: ${folderMillis}) was edited after it was applied: restore the migration, and make the change in a new one.`,
  );
}

/** Refuses a schema of 0.x, whose journal has an entry that is older than the first migration (OP-122). */
function refuseFormer({ schema, migrations }: Plan, journal: Journal | null): void {
  const firstMs = migrations[0]?.folderMillis ?? 0;
  if (![...(journal?.keys() ?? [])].some((when) => when < firstMs)) return;
  throw new Error(
    `Schema ${schema} was made by Ostiary 0.x, and this version cannot read it: use a new database (DATABASE_URL, or DATA_DIR for the quick start), or start 0.x again.`,
  );
}

/** Returns the number of applied migrations that this version lacks. Throws if one refuses older versions (OP-96). */
function newerThan({ schema, migrations }: Plan, journal: Journal): number {
  const own = new Set(migrations.map(({ folderMillis }) => folderMillis));
  const newer = [...journal].filter(([when]) => !own.has(when)).map(([, applied]) => applied);
  const reason = newer.find(({ refuses_older }) => refuses_older !== null)?.refuses_older;
  if (reason !== undefined) {
    throw new Error(
      `A newer version has migrated schema ${schema}, and this version cannot serve it: ${reason} Start the newer version again, or restore a backup from before the upgrade.`,
    );
  }
  return newer.length;
}

interface StepAt {
  readonly migration: Migration;
  readonly step: Step;
  readonly done: number;
  readonly count: number;
}

async function applyStep(access: MigrationAccess, plan: Plan, at: StepAt): Promise<void> {
  const { step } = at;
  if (step.kind === "index") {
    await access.outside?.(async (orm) => {
      const [taken] = await rows<{ taken: boolean }>(
        orm,
        sql`select pg_try_advisory_lock(${lockOf(plan.schema)}) as taken`,
      );
      if (taken?.taken !== true) throw new Busy();
      if (await isNext(orm, plan, at)) await buildIndex(orm, plan.schema, step, LOCK_MS);
    });
  }
  await access.transaction(async (tx) => {
    await lock(tx, plan.schema);
    if (!(await isNext(tx, plan, at))) return;
    if (step.kind === "statements") for (const each of step.statements) await rows(tx, sql.raw(each));
    await note(tx, plan, at);
  }, LOCK_MS);
}

async function isNext(orm: Orm, { journal }: Plan, { migration, done }: StepAt): Promise<boolean> {
  const found = (await readJournal(orm, journal)).get(migration.folderMillis);
  return found === undefined ? done === 0 : found.steps_done === done;
}

async function note(tx: Orm, { journal }: Plan, { migration, done, count }: StepAt): Promise<void> {
  const { folderMillis, hash, refuses_older } = migration;
  const steps_done = done + 1 === count ? null : done + 1;
  await rows(
    tx,
    sql`insert into ${journal} (written_at_ms, hash, steps_done, refuses_older)
        values (${folderMillis}, ${hash}, ${steps_done}, ${refuses_older})
      on conflict (written_at_ms) do update set steps_done = excluded.steps_done, applied_at = now()`,
  );
}

async function readableJournal(tx: Orm, { schema, journal }: Plan): Promise<Journal | null> {
  const [found] = await rows<{ readable: boolean }>(
    tx,
    sql`select coalesce(bool_or(has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')), false)
          as readable
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = ${schema} and c.relname = 'schema_migrations'`,
  );
  return found?.readable ? await readJournal(tx, journal) : null;
}

/** Reads the journal. The journal of 0.x lacks the columns `steps_done` and `refuses_older`. */
async function readJournal(orm: Orm, journal: SQL): Promise<Journal> {
  const applied = await rows<Applied & { written_at_ms: number | string }>(
    orm,
    sql`select written_at_ms, hash, (to_jsonb(found) ->> 'steps_done')::integer as steps_done,
      to_jsonb(found) ->> 'refuses_older' as refuses_older from ${journal} found`,
  );
  return new Map(applied.map(({ written_at_ms, ...each }) => [Number(written_at_ms), each]));
}
