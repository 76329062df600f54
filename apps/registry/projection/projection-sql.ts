import { type Database, type Orm, prepared } from "@ostiary/lib/runtime/stores/database";
import { and, eq, not, sql } from "drizzle-orm";
import { becomeWriter, OUTSTANDING_SINCE } from "../publishing/publishing-sql.ts";
import { ofNewestRevision, readState } from "../services/service-sql.ts";
import { revisions, services } from "../tables.ts";

type ServiceRow = typeof services.$inferSelect;

/**
 * The state that the route store must have for a service: its stored config, or no key if `config` is null.
 * `outstanding`: whether this state may still be on its way to the route store.
 */
export type Desired = Pick<ServiceRow, "name" | "fence"> & { config: string | null; outstanding: boolean };

/** An outstanding projection: the route store may lack the newest revision of the service. */
export interface LateService {
  service: string;
  /** The time since the oldest write that the route store may lack. */
  age_seconds: number;
}

/** The condition of the index `services_outstanding`. */
const isOutstanding = sql<boolean>`projected_fence is distinct from fence`;

const desiredColumns = {
  name: services.name,
  fence: services.fence,
  config: sql<string | null>`${revisions.config}::text`.as("config"),
  outstanding: isOutstanding.as("outstanding"),
};

const outstandingAfter = prepared((orm) =>
  orm
    .select(desiredColumns)
    .from(services)
    .innerJoin(revisions, ofNewestRevision)
    .where(
      and(
        isOutstanding,
        sql`(fence, name) > (${sql.placeholder("fence")}::bigint, ${sql.placeholder("name")})`,
      ),
    )
    .orderBy(services.fence, services.name)
    .limit(sql.placeholder("limit")),
);

/** Returns services whose projection is outstanding, after a fence and name, in the order of their writes. */
export function listOutstanding(
  database: Database,
  { fence, name }: Pick<Desired, "fence" | "name">,
  limit: number,
): Promise<Desired[]> {
  return database.run("select_outstanding", (orm) => outstandingAfter(orm, { fence, name, limit }));
}

/** Tells whether the route store may lack a committed write. */
export async function hasOutstanding(database: Database): Promise<boolean> {
  const found = await database.run("select_any_outstanding", (orm) =>
    orm.select({ name: services.name }).from(services).where(isOutstanding).limit(1),
  );
  return found.length > 0;
}

/** The deadline of reads that a probe waits for, such as when another session locks the table. */
const PROBE_READ = { deadlineMs: 1_000 };

/** Returns the outstanding projections, oldest first. */
export function listLateServices(database: Database): Promise<LateService[]> {
  const age_seconds = sql<number>`greatest(0, extract(epoch from clock_timestamp() - outstanding_since)::float8)`;
  const work = async (orm: Orm) =>
    orm
      .select({ service: services.name, age_seconds })
      .from(services)
      .where(isOutstanding)
      .orderBy(services.outstanding_since, services.name);
  return database.run("select_outstanding_ages", work, PROBE_READ);
}

/** Returns the newest committed state of a service, or undefined for a service that was never written. */
export async function readDesired(database: Database, name: string): Promise<Desired | undefined> {
  const [desired] = await database.run("select_projection", (orm) =>
    orm
      .select(desiredColumns)
      .from(services)
      .innerJoin(revisions, ofNewestRevision)
      .where(eq(services.name, name)),
  );
  return desired;
}

/** Returns the SHA-256 of each current service's stored config in hexadecimal, by name. */
export async function listDigests(database: Database): Promise<Map<string, string>> {
  const digest = sql<string>`encode(sha256(convert_to(${revisions.config}::text, 'UTF8')), 'hex')`;
  const found = await database.run("select_digests", (orm) =>
    orm
      .select({ name: services.name, digest })
      .from(services)
      .innerJoin(revisions, ofNewestRevision)
      .where(not(services.deleted)),
  );
  return new Map(found.map((row) => [row.name, row.digest]));
}

/** Records that the route store has the state committed with `fence`. */
export async function markProjected(database: Database, name: string, fence: number): Promise<void> {
  await database.run("update_projected", (orm) =>
    orm.update(services).set({ projected_fence: fence }).where(isCommittedWith(name, fence)),
  );
}

/** Gives the state committed with `fence` a new fence greater than `above`. Its projection is outstanding again. */
export async function raiseFence(tx: Orm, name: string, fence: number, above: number): Promise<void> {
  const raised = await becomeWriter(tx, above);
  const change = { fence: raised, outstanding_since: OUTSTANDING_SINCE };
  await tx.update(services).set(change).where(isCommittedWith(name, fence));
}

function isCommittedWith(name: string, fence: number) {
  return and(eq(services.name, name), eq(services.fence, fence));
}

/**
 * Returns a fence for removing the key of a service that was never written, or null if the service was written.
 * Every later write gets a greater fence.
 */
export async function fenceOfAbsence(tx: Orm, name: string, above: number): Promise<number | null> {
  const fence = await becomeWriter(tx, above);
  return (await readState(tx, name)) === undefined ? fence : null;
}
