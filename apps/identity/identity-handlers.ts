import type { PageRequest } from "@ostiary/lib/runtime/http";
import {
  errors,
  noQuery,
  page,
  pageRequest,
  pageSchema,
  response,
  setAuditNote,
} from "@ostiary/lib/runtime/http";
import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import type { TSchema } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Changed } from "./changed-fields.ts";
import { type PathId, pathIds, refuseMalformedIds } from "./path-ids.ts";

/** Returns an app for the operations on a list. The app checks the ids in the path; each operation checks its query. */
export function listHandlersAt<Prefix extends string, Ids extends PathId[]>(
  prefix: Prefix,
  ...ids: [...Ids]
) {
  return new Elysia({ normalize: false, prefix })
    .use(refuseMalformedIds)
    .guard({ params: pathIds(...ids), response: errors("NOT_FOUND") });
}

/** Returns an app for operations that take no query. The app checks the ids in the path. */
export function handlersAt<Prefix extends string, Ids extends PathId[]>(prefix: Prefix, ...ids: [...Ids]) {
  return listHandlersAt(prefix, ...ids).guard({ query: noQuery });
}

/** Returns the schema of a 200 with a page of a list. */
export function pageResponse<Name extends string, Item extends TSchema>(name: Name, item: Item) {
  return response(pageSchema(name, item), "A page.");
}

/** Reads the page that `query` requests. `list` reads one row more than the page can hold. */
export async function readPage<Row>(
  database: Database,
  operation: string,
  query: { limit?: string; starting_after?: string },
  list: (orm: Orm, request: PageRequest) => Promise<Row[]>,
) {
  const request = pageRequest(query);
  const rows = await database.run(operation, (orm) => list(orm, request));
  return page(rows, request.limit);
}

/** Adds the audit note of a change, and returns the changed row. */
export function noteChange<Row>(
  set: Parameters<typeof setAuditNote>[0],
  { row, details }: Changed<Row>,
): Row {
  setAuditNote(set, { details });
  return row;
}
