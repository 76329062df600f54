import { type Database, type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { becomeWriter, WRITERS_LANE } from "../publishing/queries.ts";

/** What the route store is to hold for a service: `config` null means nothing. */
export interface Desired {
  name: string;
  fence: number;
  projected: boolean;
  config: string | null;
}

/** A service whose newest revision is not known to be in the route store. */
export interface Outstanding {
  name: string;
  fence: number;
}

const isOutstanding = sql.raw("projected_fence is distinct from fence");

/** The oldest outstanding services after `last`, in the order in which they were written. */
export function listOutstanding(
  database: Database,
  last: Outstanding,
  limit: number,
): Promise<Outstanding[]> {
  return database.run("select_outstanding", (orm) =>
    rows<Outstanding>(
      orm,
      sql`select name, fence from routes.services
          where ${isOutstanding} and (fence, name) > (${last.fence}::bigint, ${last.name})
          order by fence, name limit ${limit}`,
    ),
  );
}

/** A service that waits for its projection, and how long ago its newest revision was committed. */
interface OutstandingAge {
  name: string;
  projected_fence: number | null;
  age_ms: number;
}

export function listOutstandingAges(database: Database): Promise<OutstandingAge[]> {
  return database.run("select_outstanding_ages", (orm) =>
    rows<OutstandingAge>(
      orm,
      sql`select name, projected_fence,
            (extract(epoch from clock_timestamp()) * 1000 - fence / 1000.0)::float8 as age_ms
          from routes.services where ${isOutstanding}`,
    ),
  );
}

/** The newest committed state of a service; undefined when it was never written. */
export async function readDesired(database: Database, name: string): Promise<Desired | undefined> {
  const [row] = await database.run("select_projection", (orm) =>
    rows<{ name: string; fence: number; projected: boolean; config: string | null }>(
      orm,
      sql`select s.name, s.fence, s.projected_fence is not distinct from s.fence as projected,
            r.config::text as config
          from routes.services s
          join routes.revisions r on r.service = s.name and r.revision = s.revision
          where s.name = ${name}`,
    ),
  );
  return row;
}

/** The SHA-256 of each current service's projection, in hexadecimal, by name. */
export async function listDigests(database: Database): Promise<Map<string, string>> {
  const found = await database.run("select_digests", (orm) =>
    rows<{ name: string; digest: string }>(
      orm,
      sql`select s.name, encode(sha256(convert_to(r.config::text, 'UTF8')), 'hex') as digest
          from routes.services s
          join routes.revisions r on r.service = s.name and r.revision = s.revision
          where not s.deleted`,
    ),
  );
  return new Map(found.map((row) => [row.name, row.digest]));
}

/** Notes that the route store holds what was committed with `fence`. */
export async function markProjected(database: Database, name: string, fence: number): Promise<void> {
  await database.run("update_projected", (orm) =>
    rows(
      orm,
      sql`update routes.services set projected_fence = ${fence}::bigint
          where name = ${name} and fence = ${fence}::bigint`,
    ),
  );
}

/** Gives the state that was committed with `fence` a new fence greater than `above`: it is outstanding again. */
export async function raiseFence(
  database: Database,
  name: string,
  fence: number,
  above: number,
): Promise<void> {
  const work = async (tx: Orm) => {
    const raised = await becomeWriter(tx, above);
    await rows(
      tx,
      sql`update routes.services set fence = ${raised}::bigint
          where name = ${name} and fence = ${fence}::bigint`,
    );
  };
  await database.transaction("raise_fence", work, { lane: WRITERS_LANE });
}

/** A fence to remove `name` with: less than that of any later write of it. Null when it has been written. */
export function fenceOfAbsence(database: Database, name: string, above: number): Promise<number | null> {
  const work = async (tx: Orm) => {
    const fence = await becomeWriter(tx, above);
    const known = await rows(tx, sql`select 1 from routes.services where name = ${name}`);
    return known.length === 0 ? fence : null;
  };
  return database.transaction("fence_of_absence", work, { lane: WRITERS_LANE });
}
