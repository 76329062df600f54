import { listQuery, noQuery, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, setAuditNote } from "../answers.ts";
import type { Dependencies } from "../dependencies.ts";
import { trimmed } from "../fields.ts";
import { requireOrganization } from "../organizations/queries.ts";
import { pathIds, refuseMalformedIds } from "../path-ids.ts";
import { createServiceAccount, removeServiceAccount, renameServiceAccount } from "./commands.ts";
import { listServiceAccounts, requireServiceAccount } from "./queries.ts";
import {
  createServiceAccountBody,
  ServiceAccount,
  toServiceAccount,
  UpdateServiceAccountBody,
} from "./service-account.ts";

const tags = ["Service accounts"];

/** Service accounts (Identity specification, Service accounts and their keys). */
export function serviceAccountsRoutes(deps: Dependencies) {
  const { database, roles } = deps;
  return new Elysia({ name: "service-accounts", normalize: false })
    .use(refuseMalformedIds)
    .group("/organizations/:organization_id/service-accounts", (accounts) =>
      accounts
        .guard({ params: pathIds("organization_id") })
        .post(
          "",
          async ({ params, body, status, set }) => {
            const role = body.role ?? roles.forServiceAccounts;
            const row = await createServiceAccount(deps, params.organization_id, trimmed(body.name), role);
            const account = toServiceAccount(row, roles);
            const { id, member_id, name } = account;
            setAuditNote(set, {
              details: { service_account_id: id, member_id, name, role: account.role },
              created: id,
            });
            return status(201, account);
          },
          {
            query: noQuery,
            body: createServiceAccountBody(roles),
            response: {
              201: answer(ServiceAccount, "The service account.", "details", "created"),
              ...bodyErrors("NOT_FOUND"),
            },
            detail: {
              summary: "Create a service account",
              description: "It belongs to the organization and has a role of its own. It is active at once.",
              operationId: "createServiceAccount",
              tags,
            },
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
            response: {
              200: answer(pageSchema("service_accounts", ServiceAccount), "A page."),
              ...errors("NOT_FOUND"),
            },
            detail: {
              summary: "List an organization's service accounts",
              description: "Active and suspended ones, oldest first; removed ones are never listed.",
              operationId: "listServiceAccounts",
              tags,
            },
          },
        ),
    )
    .group("/organizations/:organization_id/service-accounts/:service_account_id", (account) =>
      account
        .guard({ params: pathIds("organization_id", "service_account_id"), query: noQuery })
        .get(
          "",
          async ({ params }) =>
            toServiceAccount(
              await database.run("select_service_account", (orm) => requireServiceAccount(orm, params)),
              roles,
            ),
          {
            response: { 200: answer(ServiceAccount, "The service account."), ...errors("NOT_FOUND") },
            detail: {
              summary: "Read a service account",
              description: "404 once it is removed.",
              operationId: "getServiceAccount",
              tags,
            },
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
            response: {
              200: answer(ServiceAccount, "The service account, renamed.", "details"),
              ...bodyErrors("NOT_FOUND"),
            },
            detail: {
              summary: "Rename a service account",
              description: "Its status and role are changed at its member's address.",
              operationId: "updateServiceAccount",
              tags,
            },
          },
        )
        .delete(
          "",
          async ({ params, status }) => {
            await removeServiceAccount(deps, params);
            return status(204, undefined);
          },
          {
            response: { 204: emptyAnswer("Removed."), ...errors("NOT_FOUND") },
            detail: {
              summary: "Remove a service account",
              description:
                "Removes its member and revokes its keys. The last member, and the last holder of creator_role, can not be removed (422).",
              operationId: "removeServiceAccount",
              tags,
            },
          },
        ),
    );
}
