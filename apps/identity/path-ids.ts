import { notFound } from "@ostiary/lib/domain/errors";
import { idField, isUlid } from "@ostiary/lib/domain/schemas";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";

const PathIds = Type.Object({
  user_id: idField("The person."),
  organization_id: idField("The organization."),
  member_id: idField("The member."),
  service_account_id: idField("The service account."),
  invite_id: idField("The invite."),
  key_id: idField("The API key."),
});

export type PathId = keyof typeof PathIds.properties;

/** What an error calls the resource that an id in a path names, in the order in which paths name them. */
const resources: [name: PathId, resource: string][] = [
  ["user_id", "user"],
  ["organization_id", "organization"],
  ["member_id", "member"],
  ["service_account_id", "service_account"],
  ["invite_id", "invite"],
  ["key_id", "api_key"],
];

/** Path parameters, by name. */
export function pathIds<Names extends PathId[]>(...names: [...Names]) {
  return Type.Pick(PathIds, names);
}

/**
 * Refuses with 404 a path with something that can not be an id of ours, before it reaches the database: an
 * unknown id and a malformed one are the same to the caller.
 */
export const refuseMalformedIds = new Elysia({ name: "malformed-ids" }).onBeforeHandle(
  { as: "scoped" },
  ({ params = {} }: { params?: Partial<Record<PathId, string>> }) => {
    for (const [name, resource] of resources) {
      const id = params[name];
      if (id !== undefined && !isUlid(id)) throw notFound(resource, id);
    }
  },
);
