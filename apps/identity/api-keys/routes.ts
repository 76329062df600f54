import { ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import { listQuery, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, noContent, setAuditNote } from "../answers.ts";
import type { Directory } from "../directory.ts";
import { noQuery, pathIds } from "../fields.ts";
import { ApiKey, CreateApiKeyBody, CreatedApiKey } from "./api-key.ts";
import { createKey, keyNote, listKeysOf, revokeKeyOf } from "./keys.ts";
import { memberAt, serviceAccountAt, userAt } from "./owners.ts";

const tags = ["API keys"];
const unknownKey = { code: "NOT_FOUND", details: { resource: "api_key", id: ULID_EXAMPLE } } as const;

/** The operations on keys, the same at each of their three addresses. */
function descriptions(owner: string, suffix: string, note: string) {
  return {
    create: {
      query: noQuery,
      body: CreateApiKeyBody,
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
    list: {
      query: listQuery,
      response: { 200: answer(pageSchema("keys", ApiKey), "A page."), ...errors("NOT_FOUND") },
      detail: {
        summary: `List the API keys of a ${owner}`,
        description: "Oldest first, revoked ones too, without their secrets.",
        operationId: `list${suffix}ApiKeys`,
        tags,
      },
    },
    revoke: {
      query: noQuery,
      response: { 204: emptyAnswer("Revoked."), ...errors(unknownKey) },
      detail: {
        summary: `Revoke an API key of a ${owner}`,
        description: "Final. Revoking it again changes nothing.",
        operationId: `revoke${suffix}ApiKey`,
        tags,
      },
    },
  };
}

const ofUser = descriptions("person", "User", "It is the person on user routes.");
const ofMember = descriptions("member", "Member", "It carries what the member's role grants.");
const ofServiceAccount = descriptions(
  "service account",
  "ServiceAccount",
  "It carries what the service account's role grants, and is listed at its member's address too.",
);

/** User keys, member keys and service-account keys (Identity specification, API key). */
export function apiKeysRoutes(directory: Directory) {
  return new Elysia({ name: "api-keys", normalize: false })
    .post(
      "/users/:user_id/api-keys",
      async ({ params, body, status, set }) => {
        const key = await createKey(directory, userAt(params.user_id), body.name);
        setAuditNote(set, keyNote(key));
        return status(201, key);
      },
      { params: pathIds("user_id"), ...ofUser.create },
    )
    .get(
      "/users/:user_id/api-keys",
      ({ params, query }) => listKeysOf(directory, userAt(params.user_id), pageRequest(query)),
      { params: pathIds("user_id"), ...ofUser.list },
    )
    .delete(
      "/users/:user_id/api-keys/:key_id",
      async ({ params }) => {
        await revokeKeyOf(directory, userAt(params.user_id), params.key_id);
        return noContent();
      },
      { params: pathIds("user_id", "key_id"), ...ofUser.revoke },
    )
    .post(
      "/members/:member_id/api-keys",
      async ({ params, body, status, set }) => {
        const key = await createKey(directory, memberAt(params.member_id), body.name);
        setAuditNote(set, keyNote(key));
        return status(201, key);
      },
      { params: pathIds("member_id"), ...ofMember.create },
    )
    .get(
      "/members/:member_id/api-keys",
      ({ params, query }) => listKeysOf(directory, memberAt(params.member_id), pageRequest(query)),
      { params: pathIds("member_id"), ...ofMember.list },
    )
    .delete(
      "/members/:member_id/api-keys/:key_id",
      async ({ params }) => {
        await revokeKeyOf(directory, memberAt(params.member_id), params.key_id);
        return noContent();
      },
      { params: pathIds("member_id", "key_id"), ...ofMember.revoke },
    )
    .post(
      "/organizations/:organization_id/service-accounts/:service_account_id/api-keys",
      async ({ params, body, status, set }) => {
        const key = await createKey(directory, serviceAccountAt(params), body.name);
        setAuditNote(set, keyNote(key));
        return status(201, key);
      },
      { params: pathIds("organization_id", "service_account_id"), ...ofServiceAccount.create },
    )
    .get(
      "/organizations/:organization_id/service-accounts/:service_account_id/api-keys",
      ({ params, query }) => listKeysOf(directory, serviceAccountAt(params), pageRequest(query)),
      { params: pathIds("organization_id", "service_account_id"), ...ofServiceAccount.list },
    )
    .delete(
      "/organizations/:organization_id/service-accounts/:service_account_id/api-keys/:key_id",
      async ({ params }) => {
        await revokeKeyOf(directory, serviceAccountAt(params), params.key_id);
        return noContent();
      },
      { params: pathIds("organization_id", "service_account_id", "key_id"), ...ofServiceAccount.revoke },
    );
}
