import { ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import {
  bodyErrors,
  emptyResponse,
  errors,
  noQuery,
  response,
  setAuditNote,
} from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import type { Dependencies } from "../dependencies.ts";
import { listHandlersAt, pageResponse, readPage } from "../identity-handlers.ts";
import { type PathId, pathIds, refuseMalformedIds } from "../path-ids.ts";
import { ApiKey, CreatedApiKey, createApiKeyBody, RotateApiKeyBody, toApiKey } from "./api-key.ts";
import { createKey, revokeKeyOf, rotateKey } from "./api-key-commands.ts";
import { listKeys } from "./api-key-sql.ts";
import { keyFilter, keyListQuery } from "./filters.ts";
import { memberAt, type OwnerAddress, serviceAccountAt, userAt } from "./owners.ts";

const overKey = { code: "CONFLICT", details: { field: "status", value: "rotated" } } as const;
const unknownKey = { code: "NOT_FOUND", details: { resource: "api_key", id: ULID_EXAMPLE } } as const;

/** The texts about the keys of one kind of owner. */
interface KeyTexts {
  /** The word for the owner in descriptions. */
  owner: string;
  /** The word for the owner in operation ids. */
  suffix: string;
  /** A sentence about what a key of this owner may do. */
  note: string;
}

const tags = ["API keys"];

/** Returns the summary and the description of each operation on the keys of one kind of owner. */
function keyOperations({ owner, suffix, note }: KeyTexts) {
  return {
    create: {
      summary: `Create an API key of a ${owner}`,
      description: `Only this response contains the key itself. ${note}`,
      operationId: `create${suffix}ApiKey`,
      tags,
    },
    list: {
      summary: `List the API keys of a ${owner}`,
      description:
        "Oldest first, without their secrets. Revoked and expired keys are included unless a filter leaves them out. Filters combine with AND.",
      operationId: `list${suffix}ApiKeys`,
      tags,
    },
    rotate: {
      summary: `Rotate an API key of a ${owner}`,
      description:
        "A new key with the same name and lifetime replaces this one. The old key expires after the overlap, or at its own expiry time if that is earlier. 409 for a key that is revoked, expired, or already rotated.",
      operationId: `rotate${suffix}ApiKey`,
      tags,
    },
    revoke: {
      summary: `Revoke an API key of a ${owner}`,
      description: "A revocation is final. Revoking a key again changes nothing.",
      operationId: `revoke${suffix}ApiKey`,
      tags,
    },
  };
}

/** A path under which the keys of one kind of owner are managed. */
interface Address extends KeyTexts {
  path: string;
  ids: PathId[];
  /** Returns the owner. `params` contains only the ids that `ids` names. */
  ownerAt(params: Record<PathId, string>): OwnerAddress;
}

/** Returns the routes of user keys, member keys and service-account keys (ID-55). */
export function apiKeysHandlers(deps: Dependencies) {
  return new Elysia({ name: "api-keys", normalize: false })
    .use(
      keysAt(deps, {
        path: "/users/:user_id",
        ids: ["user_id"],
        ownerAt: userAt,
        owner: "person",
        suffix: "User",
        note: "The key acts as the person on user routes.",
      }),
    )
    .use(
      keysAt(deps, {
        path: "/members/:member_id",
        ids: ["member_id"],
        ownerAt: memberAt,
        owner: "member",
        suffix: "Member",
        note: "The key has the labels of the member's role.",
      }),
    )
    .use(
      keysAt(deps, {
        path: "/organizations/:organization_id/service-accounts/:service_account_id",
        ids: ["organization_id", "service_account_id"],
        ownerAt: serviceAccountAt,
        owner: "service account",
        suffix: "ServiceAccount",
        note: "The key has the labels of the service account's role. The keys of the service account are also listed under its member (`/members/{member_id}/api-keys`).",
      }),
    );
}

/** Adds the audit note of a new key, without its secret. */
function noteCreated(set: Parameters<typeof setAuditNote>[0], { id, key_prefix, name }: CreatedApiKey) {
  setAuditNote(set, { details: { key_id: id, key_prefix, name }, created: id });
}

/** Returns the routes for the keys of one kind of owner. */
function keysAt(deps: Dependencies, address: Address) {
  const operations = keyOperations(address);
  return new Elysia({ name: `api-keys of a ${address.owner}`, normalize: false })
    .use(listHandlers(deps, address, operations))
    .use(keyHandlers(deps, address, operations));
}

type Operations = ReturnType<typeof keyOperations>;

/** Returns the routes that create a key and list the keys. */
function listHandlers(deps: Dependencies, { path, ids, ownerAt }: Address, operations: Operations) {
  return listHandlersAt(`${path}/api-keys`, ...ids)
    .post(
      "",
      async ({ params, body, status, set }) => {
        const created = await createKey(deps, ownerAt(params), body);
        noteCreated(set, created);
        return status(201, created);
      },
      {
        query: noQuery,
        body: createApiKeyBody(deps.apiKeyMaxAgeSeconds),
        response: {
          201: response(
            CreatedApiKey,
            "The key with its secret, which no other response contains.",
            "details",
            "created",
          ),
          ...bodyErrors(),
        },
        detail: operations.create,
      },
    )
    .get(
      "",
      async ({ params, query }) => {
        const filter = keyFilter(query, deps.clock.now());
        const { items, has_more } = await readPage(
          deps.database,
          "list_api_keys",
          query,
          async (orm, request) => listKeys(orm, await ownerAt(params).find(orm, false), request, filter),
        );
        return { keys: items.map(toApiKey), has_more };
      },
      {
        query: keyListQuery,
        response: { 200: pageResponse("keys", ApiKey) },
        detail: operations.list,
      },
    );
}

/** Returns the routes for a single key. */
function keyHandlers(deps: Dependencies, { path, ids, ownerAt, owner }: Address, operations: Operations) {
  const prefix = `${path}/api-keys/:key_id`;
  return new Elysia({ name: `api-key of a ${owner}`, normalize: false, prefix })
    .use(refuseMalformedIds)
    .post(
      "/rotate",
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
          201: response(
            CreatedApiKey,
            "The new key with its secret, which no other response contains.",
            "details",
            "created",
          ),
          ...bodyErrors(unknownKey, overKey),
        },
        detail: operations.rotate,
      },
    )
    .delete(
      "",
      async ({ params, status }) => {
        await revokeKeyOf(deps, ownerAt(params), params.key_id);
        return status(204, undefined);
      },
      {
        params: pathIds(...ids, "key_id"),
        query: noQuery,
        response: { 204: emptyResponse("Revoked."), ...errors(unknownKey) },
        detail: operations.revoke,
      },
    );
}
