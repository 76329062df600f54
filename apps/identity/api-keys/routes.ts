import { ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import { noQuery, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, setAuditNote } from "../answers.ts";
import type { Dependencies } from "../dependencies.ts";
import { type PathId, pathIds, refuseMalformedIds } from "../path-ids.ts";
import { ApiKey, CreatedApiKey, createApiKeyBody, RotateApiKeyBody, toApiKey } from "./api-key.ts";
import { createKey, revokeKeyOf, rotateKey } from "./commands.ts";
import { keyFilter, keyListQuery } from "./filters.ts";
import { memberAt, type OwnerAddress, serviceAccountAt, userAt } from "./owners.ts";
import { listKeys } from "./queries.ts";

const tags = ["API keys"];
const overKey = { code: "CONFLICT", details: { field: "status", value: "rotated" } } as const;
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

/** Tells the audit log of a new key, and nothing of its secret. */
function noteCreated(set: Parameters<typeof setAuditNote>[0], { id, key_prefix, name }: CreatedApiKey) {
  setAuditNote(set, { details: { key_id: id, key_prefix, name }, created: id });
}

/** The operations on the keys of the owner at one address. */
function keysAt(deps: Dependencies, { path, ids, ownerAt, owner, suffix, note }: Address) {
  return new Elysia({ name: `api-keys of a ${owner}`, normalize: false, prefix: `${path}/api-keys` })
    .use(refuseMalformedIds)
    .post(
      "",
      async ({ params, body, status, set }) => {
        const created = await createKey(deps, ownerAt(params), body);
        noteCreated(set, created);
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
        const filter = keyFilter(query, deps.clock.now());
        const rows = await deps.database.run("list_api_keys", async (orm) =>
          listKeys(orm, await ownerAt(params).find(orm, false), request, filter),
        );
        const { items, has_more } = page(rows, request.limit);
        return { keys: items.map(toApiKey), has_more };
      },
      {
        params: pathIds(...ids),
        query: keyListQuery,
        response: { 200: answer(pageSchema("keys", ApiKey), "A page."), ...errors("NOT_FOUND") },
        detail: {
          summary: `List the API keys of a ${owner}`,
          description:
            "Oldest first, revoked and expired ones too unless a filter leaves them out, without their secrets. Filters combine.",
          operationId: `list${suffix}ApiKeys`,
          tags,
        },
      },
    )
    .post(
      "/:key_id/rotate",
      async ({ params, body, status, set }) => {
        const created = await rotateKey(deps, ownerAt(params), params.key_id, body.overlap_seconds ?? 0);
        noteCreated(set, created);
        return status(201, created);
      },
      {
        params: pathIds(...ids, "key_id"),
        query: noQuery,
        body: RotateApiKeyBody,
        response: {
          201: answer(CreatedApiKey, "The new key, once with its secret.", "details", "created"),
          ...bodyErrors(unknownKey, overKey),
        },
        detail: {
          summary: `Rotate an API key of a ${owner}`,
          description:
            "A new key of the same name and lifetime takes the place of this one, which ends after the overlap, and never later than it would have. 409 for a key that is revoked, has expired, or was rotated already.",
          operationId: `rotate${suffix}ApiKey`,
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
