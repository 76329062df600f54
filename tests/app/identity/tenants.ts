import { rows } from "@ostiary/lib/runtime/stores/database";
import { type SQL, sql } from "drizzle-orm";
import {
  type BodyField,
  bodyFields,
  type OpenApiDocument,
  operationsIn,
} from "../../support/http/openapi.ts";
import { wordsOf } from "../../support/words.ts";
import type { IdentityBed, Method } from "./bed.ts";

/**
 * A person, an organization and one of each thing in it. The names of the ids are those of path parameters.
 */
export type Tenant = Record<
  "user_id" | "organization_id" | "member_id" | "service_account_id" | "invite_id",
  string
> & {
  /** The id of a key for each kind of owner, by the path parameter that names the owner. */
  keys: Record<"user_id" | "member_id" | "service_account_id", string>;
  token: string;
};

export async function newTenant(identity: IdentityBed, name: string): Promise<Tenant> {
  const { id: organization_id, owner: user_id, ownerMember: member_id } = await identity.organization(name);
  const inOrganization = `/organizations/${organization_id}`;
  const create = async (path: string, body: object = {}) => (await identity.call("POST", path, body)).body;
  const account = await create(`${inOrganization}/service-accounts`, { name: `${name} bot` });
  // Add a second owner, so that the first one can leave the organization.
  await identity.member(organization_id, "owner");
  const invite = await create(`${inOrganization}/invites`, { email: `${name}@example.com` });
  const keyOf = async (path: string) =>
    String((await create(`${path}/api-keys`, { name: `${name} key` })).id);
  return {
    user_id,
    organization_id,
    member_id,
    service_account_id: account.id,
    invite_id: invite.id,
    token: invite.token,
    keys: {
      user_id: await keyOf(`/users/${user_id}`),
      member_id: await keyOf(`/members/${member_id}`),
      service_account_id: await keyOf(`${inOrganization}/service-accounts/${account.id}`),
    },
  };
}

/** An operation of the service's own OpenAPI description. */
export interface Operation {
  id: string;
  method: Method;
  path: string;
  /** The names of the path parameters, in the order of the path. */
  params: string[];
  /** A valid body, or undefined for an operation without a body. */
  body: object | undefined;
  fields: BodyField[];
}

export async function operationsOf(identity: IdentityBed): Promise<Operation[]> {
  const document: OpenApiDocument = (await identity.call("GET", "/swagger/json")).body;
  return operationsIn(document).map((operation) => {
    const { operationId, method, path } = operation;
    const fields = bodyFields(document, operation);
    return {
      id: operationId,
      method: methodOf(method),
      path,
      params: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name),
      body:
        fields === null ? undefined : Object.fromEntries(fields.map(({ name, sample }) => [name, sample])),
      fields: fields ?? [],
    };
  });
}

function methodOf(name: string): Method {
  const methods = ["GET", "POST", "PATCH", "PUT", "DELETE"] as const;
  const method = methods.find((each) => each === name);
  if (method === undefined) throw new Error(`${name} is not a method that this service uses.`);
  return method;
}

/** Returns the path of an operation with these values for its parameters, in their order. */
export function filled({ path }: Operation, values: readonly string[]): string {
  let index = 0;
  return path.replace(/\{\w+\}/g, () => values[index++] ?? "");
}

function fieldOf(fields: object, name: string | undefined): string | undefined {
  return Object.entries(fields).find(([each]) => each === name)?.[1];
}

/** Returns the tenant's id for a path parameter of an operation. */
export function idOf(tenant: Tenant, { params }: Operation, param: string): string {
  const id = param === "key_id" ? fieldOf(tenant.keys, params.at(-2)) : fieldOf(tenant, param);
  return id ?? "";
}

/**
 * Returns the sample body of an operation, with the tenant's own values for fields such as `user_id` and
 * `token`.
 */
export function bodyFor(tenant: Tenant, { body }: Operation): object | undefined {
  if (body === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(body).map(([name, sample]) => [name, fieldOf(tenant, name) ?? sample]),
  );
}

/** Returns the path of an operation with the ids of a tenant. */
export function pathIn(tenant: Tenant, operation: Operation): string {
  return filled(
    operation,
    operation.params.map((param) => idOf(tenant, operation, param)),
  );
}

const TABLES = wordsOf(
  "users idp_links organizations members service_accounts api_keys sessions invites lifecycle_events",
);

/** Returns a digest of all stored rows. Two digests are equal if nothing was written between them. */
export async function storedDigest({ database }: IdentityBed): Promise<string> {
  const digests: SQL[] = TABLES.map(
    (table) =>
      sql`select md5(coalesce(string_agg(line::text, '|' order by line::text), '')) as digest
        from ${sql.identifier("identity")}.${sql.identifier(table)} line`,
  );
  const found = await database.run("inspect", (orm) =>
    rows<{ digest: string }>(orm, sql.join(digests, sql` union all `)),
  );
  return found.map(({ digest }) => digest).join();
}
