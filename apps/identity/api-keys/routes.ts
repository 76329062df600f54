import { ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import { listQuery, noQuery, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, setAuditNote } from "../answers.ts";
import type { Dependencies } from "../dependencies.ts";
import { type PathId, pathIds, refuseMalformedIds } from "../path-ids.ts";
import { ApiKey, CreatedApiKey, createApiKeyBody, toApiKey } from "./api-key.ts";
import { createKey, revokeKeyOf } from "./commands.ts";
import { memberAt, type OwnerAddress, serviceAccountAt, userAt } from "./owners.ts";
import { listKeys } from "./queries.ts";

const tags = ["API keys"];
const unknownKey = { code: "NOT_FOUND", details: { resource: "api_key", id: ULID_EXAMPLE } } as const;

/** One of the addresses at which there are keys. */
interface Address {
  /** Of the owner. */
  path: string;
  ids: PathId[];
  /** `params` holds `ids`, and nothing at the other names. */
  ownerAt(params: Record<PathId, string>): OwnerAddress;
  /** What documents call the owner. */
  owner: string;
  /** The owner in operation ids. */
  suffix: string;
  /** What a new key of this owner is. */
  note: string;
}

/** User keys, member keys and service-account keys (Identity specification, API key). */
export function apiKeysRoutes(deps: Dependencies) {
  return new Elysia({ name: "api-keys", normalize: false })
    .use(
      keysAt(deps, {
        path: "/users/:user_id",
        ids: ["user_id"],
        ownerAt: userAt,
        owner: "person",
        suffix: "User",
        note: "It is the person on user routes.",
      }),
    )
    .use(
      keysAt(deps, {
        path: "/members/:member_id",
        ids: ["member_id"],
        ownerAt: memberAt,
        owner: "member",
        suffix: "Member",
        note: "It carries what the member's role grants.",
      }),
    )
    .use(
      keysAt(deps, {
        path: "/organizations/:organization_id/service-accounts/:service_account_id",
        ids: ["organization_id", "service_account_id"],
        ownerAt: serviceAccountAt,
        owner: "service account",
        suffix: "ServiceAccount",
        note: "It carries what the service account's role grants, and is listed at its member's address too.",
      }),
    );
}

/** The operations on the keys of the owner at one address. */
function keysAt(deps: Dependencies, { path, ids, ownerAt, owner, suffix, note }: Address) {
  return new Elysia({ name: `api-keys of a ${owner}`, normalize: false, prefix: `${path}/api-keys` })
    .use(refuseMalformedIds)
    .post(
      "",
      async ({ params, body, status, set }) => {
        const created = await createKey(deps, ownerAt(params), body);
        const { id, key_prefix, name } = created;
        setAuditNote(set, { details: { key_id: id, key_prefix, name }, created: id });
        return status(201, created);
      },
      {
        params: pathIds(...ids),
        query: noQuery,
        body: createApiKeyBody(deps.api_key_max_age_seconds),
        response: {
          201: answer(CreatedApiKey, "The key, once with its secret.", "details", "created"),
          ...bodyErrors("NOT_FOUND"),
        },
        detail: {
          summary: `Create an API key of a ${owner}`,
          description: `The key itself is in this answer and nowhere else. ${note}`,
          operationId: `create${suffix}ApiKey`,
          tags,
        },
      },
    )
    .get(
      "",
      async ({ params, query }) => {
        const request = pageRequest(query);
        const rows = await deps.database.run("list_api_keys", async (orm) =>
          listKeys(orm, await ownerAt(params).find(orm, false), request),
        );
        const { items, has_more } = page(rows, request.limit);
        return { keys: items.map(toApiKey), has_more };
      },
      {
        params: pathIds(...ids),
        query: listQuery,
        response: { 200: answer(pageSchema("keys", ApiKey), "A page."), ...errors("NOT_FOUND") },
        detail: {
          summary: `List the API keys of a ${owner}`,
          description: "Oldest first, revoked ones too, without their secrets.",
          operationId: `list${suffix}ApiKeys`,
          tags,
        },
      },
    )
    .delete(
      "/:key_id",
      async ({ params, status }) => {
        await revokeKeyOf(deps, ownerAt(params), params.key_id);
        return status(204, undefined);
      },
      {
        params: pathIds(...ids, "key_id"),
        query: noQuery,
        response: { 204: emptyAnswer("Revoked."), ...errors(unknownKey) },
        detail: {
          summary: `Revoke an API key of a ${owner}`,
          description: "Final. Revoking it again changes nothing.",
          operationId: `revoke${suffix}ApiKey`,
          tags,
        },
      },
    );
}
