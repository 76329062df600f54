import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { type Database, preparedRows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import type { CurrentService } from "../services/service.ts";

/** What is current as of one moment, as far as whoever asks does not know it. */
export interface Changes {
  /** Of the last write. */
  fence: number;
  /** Whether `services` are all there are; else those that were written since. */
  is_whole: boolean;
  /** In the order of their names. */
  services: CurrentService[];
  /** Names of services that were deleted since; those of all time where `services` are all there are. */
  deleted: string[];
}

/** One for each service, or one without a name where there is none. */
interface ChangedRow {
  fence: number;
  name: string | null;
  revision: number;
  /** null for a service that was deleted. */
  config: StoredServiceConfig | null;
}

/** One statement sees one moment, and costs one way to the server and back after each write. */
const selectChanged = preparedRows<ChangedRow>(sql`
  with known as (select ${sql.placeholder("known_fence")}::bigint as fence)
  select writer.last_fence as fence, services.name, services.revision, revisions.config
  from routes.writer
    cross join known
    left join routes.services on known.fence is distinct from writer.last_fence
      and (known.fence is null or known.fence > writer.last_fence or services.fence > known.fence)
    left join routes.revisions on revisions.service = services.name and revisions.revision = services.revision
  order by services.name`);

/**
 * What was written since `known_fence`, or null when nothing was. Everything, where nothing is known or the database
 * has a smaller fence: it was put back to an earlier state.
 */
export async function readChanges(
  database: Database,
  known_fence: number | undefined,
): Promise<Changes | null> {
  const values = { known_fence: known_fence ?? null };
  const rows = await database.run("select_changes", (orm) => selectChanged(orm, values));
  const [first] = rows;
  if (first === undefined) throw new Error("The table routes.writer has lost its row.");
  const { fence } = first;
  if (fence === known_fence) return null;
  const services: CurrentService[] = [];
  const deleted: string[] = [];
  for (const { name, revision, config } of rows) {
    if (name === null) continue;
    if (config === null) deleted.push(name);
    else services.push({ name, revision, config });
  }
  return { fence, is_whole: known_fence === undefined || fence < known_fence, services, deleted };
}
