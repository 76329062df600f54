import { type Orm, preparedRows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";

/** A current service as stored. Another version of Ostiary may have written the config, so its type is unknown. */
interface StoredService {
  name: string;
  incarnation: number;
  config: unknown;
  /** The tests, or null for a service without tests. */
  tests: unknown;
}

/** The changes since a known fence, or the whole state, from one snapshot. */
export interface Changes {
  /** The fence of the last write. */
  fence: number;
  /** Whether `services` contains all current services, and not only those written since the known fence. */
  isWhole: boolean;
  /** The services in the order of their names. */
  services: StoredService[];
  /** The names of services deleted since the known fence, or of all deleted services if `isWhole`. */
  deleted: string[];
}

/** A changed service. A result without services is one row that contains only the fence. */
interface ChangedRow {
  fence: number;
  name: string | null;
  incarnation: number;
  /** The stored config, or null for a deleted service. */
  config: unknown;
  tests: unknown;
}

/** Reads the changes in one statement: one snapshot and one round trip. */
const selectChanged = preparedRows<ChangedRow>(sql`
  with known as (select ${sql.placeholder("known_fence")}::bigint as fence)
  select writer.last_fence as fence, services.name, services.life as incarnation, revisions.config,
    route_tests.tests
  from routes.writer
    cross join known
    left join routes.services on known.fence is distinct from writer.last_fence
      and (known.fence is null or known.fence > writer.last_fence or services.fence > known.fence)
    left join routes.revisions on revisions.service = services.name and revisions.revision = services.revision
    left join routes.route_tests
      on route_tests.service = services.name and route_tests.revision = services.revision
  order by services.name`);

/**
 * Returns what was written since `known_fence`, or null if nothing was written. Returns the whole state if
 * `known_fence` is undefined, or if the database has a smaller fence because it was restored from a backup.
 */
export async function readChanges(orm: Orm, known_fence: number | undefined): Promise<Changes | null> {
  const rows = await selectChanged(orm, { known_fence: known_fence ?? null });
  const [first] = rows;
  if (first === undefined) throw new Error("The table routes.writer has lost its row.");
  const { fence } = first;
  if (fence === known_fence) return null;
  const services: StoredService[] = [];
  const deleted: string[] = [];
  for (const { name, incarnation, config, tests } of rows) {
    if (name === null) continue;
    if (config === null) deleted.push(name);
    else services.push({ name, incarnation, config, tests });
  }
  return { fence, isWhole: known_fence === undefined || fence < known_fence, services, deleted };
}
