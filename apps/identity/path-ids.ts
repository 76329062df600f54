import { notFound } from "@ostiary/lib/domain/errors";
import { idField, isUlid } from "@ostiary/lib/domain/schemas";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";

const PathIds = Type.Object({
  user_id: idField("The person."),
  organization_id: idField("The id of the organization."),
  member_id: idField("The member."),
  service_account_id: idField("The service account."),
  invite_id: idField("The invite."),
  key_id: idField("The API key."),
});

export type PathId = keyof typeof PathIds.properties;

/** Returns the schema of the path parameters with these names. */
export function pathIds<Names extends PathId[]>(...names: [...Names]) {
  return Type.Pick(PathIds, names);
}

/**
 * Refuses a path with a malformed id before the id reaches the database. The error is a 404, as for an
 * unknown id, and names the first malformed id of the path.
 */
export const refuseMalformedIds = new Elysia({ name: "malformed-ids" }).onBeforeHandle(
  { as: "scoped" },
  ({ params = {} }: { params?: Partial<Record<PathId, string>> }) => {
    for (const [name, id] of Object.entries(params)) {
      if (!isUlid(id)) throw notFound(name === "key_id" ? "api_key" : name.replace(/_id$/, ""), id);
    }
  },
);
