import { validationError } from "@ostiary/lib/domain/errors";
import type { Orm } from "@ostiary/lib/runtime/stores/database";
import { and, desc, eq, gt, lt, type SQL, sql } from "drizzle-orm";
import { revisions } from "../tables.ts";

/** The service and revision of a change, which give its position in the list of all changes. */
export interface ChangePlace {
  readonly service: string;
  readonly revision: number;
}

/** The filters of the list of changes, which combine with AND. */
export interface ChangeFilter {
  readonly service?: string;
  readonly operator?: string;
  /** Only changes after `created_after` and before `created_before`. */
  readonly created_after?: string;
  readonly created_before?: string;
}

/** Returns up to `count` changes after `after`, newest first. Throws a 422 if the change `after` does not exist. */
export async function selectChanges(
  orm: Orm,
  filter: ChangeFilter,
  { after, count }: { after: ChangePlace | null; count: number },
) {
  const from = after === null ? undefined : await olderThan(orm, after);
  const { service, revision, action, operator, reason, link, request_id, created_at } = revisions;
  return orm
    .select({ service, revision, action, operator, reason, link, request_id, created_at })
    .from(revisions)
    .where(and(...conditionsOf(filter), from))
    .orderBy(desc(created_at), desc(service), desc(revision))
    .limit(count);
}

function conditionsOf({
  service,
  operator,
  created_after,
  created_before,
}: ChangeFilter): (SQL | undefined)[] {
  return [
    service === undefined ? undefined : eq(revisions.service, service),
    operator === undefined ? undefined : eq(revisions.operator, operator),
    created_after === undefined ? undefined : gt(revisions.created_at, sql`${created_after}::timestamptz`),
    created_before === undefined ? undefined : lt(revisions.created_at, sql`${created_before}::timestamptz`),
  ];
}

/** Returns the condition for changes that follow `place` in the list. */
async function olderThan(orm: Orm, { service, revision }: ChangePlace): Promise<SQL> {
  const at = and(eq(revisions.service, service), eq(revisions.revision, revision));
  const [found] = await orm.select({ revision: revisions.revision }).from(revisions).where(at);
  if (found === undefined) {
    const message =
      "starting_after must be the service and revision of the last change of the previous page.";
    throw validationError([{ path: "starting_after", message }]);
  }
  // compares in the database, because JavaScript would round the times
  return sql`(${revisions.created_at}, ${revisions.service}, ${revisions.revision})
    < (select created_at, service, revision from routes.revisions
       where service = ${service} and revision = ${revision})`;
}
