import type { Service } from "@ostiary/lib/contracts/registry-api";
import { notFound } from "@ostiary/lib/domain/errors";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { type Orm, rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { parseStored } from "../revisions/queries.ts";

type ServiceRow = { name: string; revision: number; config: string };

const currentServices = sql.raw(
  `select s.name, s.revision, r.config::text as config
   from routes.services s
   join routes.revisions r on r.service = s.name and r.revision = s.revision
   where not s.deleted`,
);

/** Every current service by name, in the order of their names. */
export async function listServices(orm: Orm): Promise<[string, StoredServiceConfig][]> {
  const found = await rows<ServiceRow>(orm, sql`${currentServices} order by s.name`);
  return found.map((row) => [row.name, parseStored(row.config)]);
}

/** One current service; 404 when there is none of that name. */
export async function readService(orm: Orm, name: string): Promise<Service> {
  const [row] = await rows<ServiceRow>(orm, sql`${currentServices} and s.name = ${name}`);
  if (row === undefined) throw notFound("service", name);
  return { name: row.name, revision: row.revision, ...parseStored(row.config) };
}

/** Those of `names` that are current services, by name. */
export async function readServices(
  orm: Orm,
  names: readonly string[],
): Promise<Map<string, { revision: number; config: StoredServiceConfig }>> {
  const found = await rows<ServiceRow>(
    orm,
    sql`${currentServices}
        and s.name in (select value from json_array_elements_text(${JSON.stringify(names)}::json))`,
  );
  return new Map(found.map((row) => [row.name, { revision: row.revision, config: parseStored(row.config) }]));
}
