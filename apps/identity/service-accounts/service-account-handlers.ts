import { describeOperations } from "@ostiary/lib/openapi";
import {
  bodyErrors,
  emptyResponse,
  listQuery,
  noQuery,
  response,
  setAuditNote,
} from "@ostiary/lib/runtime/http";
import type { Dependencies } from "../dependencies.ts";
import { trimmed } from "../fields.ts";
import { handlersAt, listHandlersAt, noteChange, pageResponse, readPage } from "../identity-handlers.ts";
import { requireOrganization } from "../organizations/organization-sql.ts";
import {
  createServiceAccountBody,
  ServiceAccount,
  toServiceAccount,
  UpdateServiceAccountBody,
} from "./service-account.ts";
import {
  createServiceAccount,
  removeServiceAccount,
  renameServiceAccount,
} from "./service-account-commands.ts";
import { listServiceAccounts, requireServiceAccount } from "./service-account-sql.ts";

const operations = describeOperations(
  {
    createServiceAccount: [
      "Create a service account",
      "The service account belongs to the organization, has a role of its own and is active at once.",
    ],
    listServiceAccounts: [
      "List an organization's service accounts",
      "Active and suspended accounts, oldest first; removed accounts are never listed.",
    ],
    getServiceAccount: ["Read a service account", "404 for a removed service account."],
    updateServiceAccount: [
      "Rename a service account",
      "To change the status or the role, change the member of the service account.",
    ],
    removeServiceAccount: [
      "Remove a service account",
      "Removes the account's member and revokes the account's keys. The last member, and the last holder of creator_role, cannot be removed (422).",
    ],
  },
  ["Service accounts"],
);

/** Returns the routes of service accounts (ID-51). */
export function serviceAccountsHandlers(deps: Dependencies) {
  const { database, roles } = deps;
  return listHandlersAt("/organizations/:organization_id/service-accounts", "organization_id")
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
          201: response(ServiceAccount, "The service account.", "details", "created"),
          ...bodyErrors(),
        },
        detail: operations.createServiceAccount,
      },
    )
    .get(
      "",
      async ({ params: { organization_id }, query }) => {
        const { items, has_more } = await readPage(
          database,
          "list_service_accounts",
          query,
          async (orm, request) => {
            await requireOrganization(orm, organization_id);
            return listServiceAccounts(orm, organization_id, request);
          },
        );
        return { service_accounts: items.map((row) => toServiceAccount(row, roles)), has_more };
      },
      {
        query: listQuery,
        response: { 200: pageResponse("service_accounts", ServiceAccount) },
        detail: operations.listServiceAccounts,
      },
    );
}

/** Returns the routes of one service account. */
export function serviceAccountHandlers(deps: Dependencies) {
  const { database, roles } = deps;
  const prefix = "/organizations/:organization_id/service-accounts/:service_account_id";
  return handlersAt(prefix, "organization_id", "service_account_id")
    .get(
      "",
      async ({ params }) => {
        const row = await database.run("select_service_account", (orm) => requireServiceAccount(orm, params));
        return toServiceAccount(row, roles);
      },
      {
        response: { 200: response(ServiceAccount, "The service account.") },
        detail: operations.getServiceAccount,
      },
    )
    .patch(
      "",
      async ({ params, body, set }) => {
        const renamed = await renameServiceAccount(deps, params, trimmed(body.name));
        return toServiceAccount(noteChange(set, renamed), roles);
      },
      {
        body: UpdateServiceAccountBody,
        response: {
          200: response(ServiceAccount, "The renamed service account.", "details"),
          ...bodyErrors(),
        },
        detail: operations.updateServiceAccount,
      },
    )
    .delete(
      "",
      async ({ params, status }) => {
        await removeServiceAccount(deps, params);
        return status(204, undefined);
      },
      { response: { 204: emptyResponse("Removed.") }, detail: operations.removeServiceAccount },
    );
}
