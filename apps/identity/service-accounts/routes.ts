import { listQuery, page, pageRequest, pageSchema } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { answer, bodyErrors, emptyAnswer, errors, noContent, setAuditNote } from "../answers.ts";
import type { Directory } from "../directory.ts";
import { nameField, noQuery, pathIds, shapeOf, trimmed } from "../fields.ts";
import { existingId } from "../ids.ts";
import { requireOrganization } from "../organizations/queries.ts";
import { roleField } from "../roles/role-field.ts";
import { listServiceAccounts } from "./queries.ts";
import { ServiceAccount, toServiceAccount } from "./service-account.ts";
import {
  changeServiceAccountName,
  createServiceAccount,
  removeServiceAccount,
  requireServiceAccount,
} from "./service-accounts.ts";

const tags = ["Service accounts"];
const name = nameField("What the service account is called.", "Nightly build");
const params = pathIds("organization_id", "service_account_id");
const RenameBody = Type.Object({ name }, shapeOf("Update service account request", "What to change."));

/** Service accounts (Identity specification, Service accounts and their keys). */
export function serviceAccountsRoutes(directory: Directory) {
  const { database, roles } = directory;
  const CreateBody = Type.Object(
    { name, role: roleField(roles, "Left out: service_account_default_role, else default_role.") },
    shapeOf("Create service account request", "A new service account."),
  );
  return new Elysia({ name: "service-accounts", normalize: false })
    .post(
      "/organizations/:organization_id/service-accounts",
      async ({ params, body, status, set }) => {
        const organizationId = existingId("organization", params.organization_id);
        const role = body.role ?? roles.forServiceAccounts;
        const row = await createServiceAccount(directory, organizationId, trimmed(body.name), role);
        const account = toServiceAccount(row, roles);
        const { id, member_id, name } = account;
        setAuditNote(set, {
          details: { service_account_id: id, member_id, name, role: account.role },
          created: id,
        });
        return status(201, account);
      },
      {
        params: pathIds("organization_id"),
        query: noQuery,
        body: CreateBody,
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
      "/organizations/:organization_id/service-accounts",
      async ({ params, query }) => {
        const id = existingId("organization", params.organization_id);
        const request = pageRequest(query);
        const rows = await database.run("list_service_accounts", async (orm) => {
          await requireOrganization(orm, id);
          return listServiceAccounts(orm, id, request);
        });
        const { items, has_more } = page(rows, request.limit);
        return { service_accounts: items.map((row) => toServiceAccount(row, roles)), has_more };
      },
      {
        params: pathIds("organization_id"),
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
    )
    .get(
      "/organizations/:organization_id/service-accounts/:service_account_id",
      async ({ params }) => {
        const address = addressOf(params);
        const row = await database.run("select_service_account", (orm) =>
          requireServiceAccount(orm, address),
        );
        return toServiceAccount(row, roles);
      },
      {
        params,
        query: noQuery,
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
      "/organizations/:organization_id/service-accounts/:service_account_id",
      async ({ params, body, set }) => {
        const name = trimmed(body.name);
        const { account, details } = await changeServiceAccountName(directory, addressOf(params), name);
        setAuditNote(set, { details });
        return toServiceAccount(account, roles);
      },
      {
        params,
        query: noQuery,
        body: RenameBody,
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
      "/organizations/:organization_id/service-accounts/:service_account_id",
      async ({ params }) => {
        await removeServiceAccount(directory, addressOf(params));
        return noContent();
      },
      {
        params,
        query: noQuery,
        response: { 204: emptyAnswer("Removed."), ...errors("NOT_FOUND") },
        detail: {
          summary: "Remove a service account",
          description:
            "Removes its member and revokes its keys. The last member, and the last holder of creator_role, can not be removed (422).",
          operationId: "removeServiceAccount",
          tags,
        },
      },
    );
}

function addressOf(params: { organization_id: string; service_account_id: string }) {
  return {
    organizationId: existingId("organization", params.organization_id),
    id: existingId("service_account", params.service_account_id),
  };
}
