import {
  answer,
  bodyErrors,
  emptyAnswer,
  errors,
  listQuery,
  noQuery,
  page,
  pageRequest,
  pageSchema,
  setAuditNote,
} from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import type { Dependencies } from "../dependencies.ts";
import { trimmed } from "../fields.ts";
import { requireOrganization } from "../organizations/sql.ts";
import { pathIds, refuseMalformedIds } from "../path-ids.ts";
import { createServiceAccount, removeServiceAccount, renameServiceAccount } from "./commands.ts";
import { operations } from "./operation-texts.ts";
import {
  createServiceAccountBody,
  ServiceAccount,
  toServiceAccount,
  UpdateServiceAccountBody,
} from "./service-account.ts";
import { listServiceAccounts, requireServiceAccount } from "./sql.ts";

/** Returns the routes of service accounts (ID-51). */
export function serviceAccountsHandlers(deps: Dependencies) {
  const { database, roles } = deps;
  const prefix = "/organizations/:organization_id/service-accounts";
  return new Elysia({ name: "service-accounts", normalize: false, prefix })
    .use(refuseMalformedIds)
    .guard({ params: pathIds("organization_id"), response: errors("NOT_FOUND") })
    .post(
      "",
      async ({ params, body, status, set }) => {
        const role = body.role ?? roles.forServiceAccounts;
        const row = await createServiceAccount(deps, params.organization_id, trimmed(body.name), role);
        const account = toServiceAccount(row, roles);
        const { id, member_id, name } = account;
        const details = { service_account_id: id, member_id, name, role: account.role };
        setAuditNote(set, { details, created: id });
        return status(201, account);
      },
      {
        query: noQuery,
        body: createServiceAccountBody(roles),
        response: {
          201: answer(ServiceAccount, "The service account.", "details", "created"),
          ...bodyErrors(),
        },
        detail: operations.createServiceAccount,
      },
    )
    .get(
      "",
      async ({ params: { organization_id }, query }) => {
        const request = pageRequest(query);
        const rows = await database.run("list_service_accounts", async (orm) => {
          await requireOrganization(orm, organization_id);
          return listServiceAccounts(orm, organization_id, request);
        });
        const { items, has_more } = page(rows, request.limit);
        return { service_accounts: items.map((row) => toServiceAccount(row, roles)), has_more };
      },
      {
        query: listQuery,
        response: { 200: answer(pageSchema("service_accounts", ServiceAccount), "A page.") },
        detail: operations.listServiceAccounts,
      },
    );
}

/** Returns the routes of one service account. */
export function serviceAccountHandlers(deps: Dependencies) {
  const { database, roles } = deps;
  const prefix = "/organizations/:organization_id/service-accounts/:service_account_id";
  return new Elysia({ name: "service-account", normalize: false, prefix })
    .use(refuseMalformedIds)
    .guard({
      params: pathIds("organization_id", "service_account_id"),
      query: noQuery,
      response: errors("NOT_FOUND"),
    })
    .get(
      "",
      async ({ params }) => {
        const row = await database.run("select_service_account", (orm) => requireServiceAccount(orm, params));
        return toServiceAccount(row, roles);
      },
      {
        response: { 200: answer(ServiceAccount, "The service account.") },
        detail: operations.getServiceAccount,
      },
    )
    .patch(
      "",
      async ({ params, body, set }) => {
        const { account, details } = await renameServiceAccount(deps, params, trimmed(body.name));
        setAuditNote(set, { details });
        return toServiceAccount(account, roles);
      },
      {
        body: UpdateServiceAccountBody,
        response: { 200: answer(ServiceAccount, "The renamed service account.", "details"), ...bodyErrors() },
        detail: operations.updateServiceAccount,
      },
    )
    .delete(
      "",
      async ({ params, status }) => {
        await removeServiceAccount(deps, params);
        return status(204, undefined);
      },
      { response: { 204: emptyAnswer("Removed.") }, detail: operations.removeServiceAccount },
    );
}
