import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { startIdentityProvider } from "@ostiary/demo";
import { wireIdentity } from "@ostiary/identity";
import { identityVariables } from "@ostiary/identity/config";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { parseRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { serve } from "@ostiary/lib/runtime/service";
import { startAudit } from "../../app/audit/bed.ts";
import { startPlatformHere } from "../../app/platform/bed.ts";
import { describedRoutes, routesOf, seed, seededService } from "../../support/documents/catalogs.ts";
import { duringTests } from "../../support/during-tests.ts";
import { admitted } from "../../support/gateway/admitted.ts";
import { startLocalGateway } from "../../support/gateway/gateway.ts";
import {
  bodyFields,
  type OpenApiDocument,
  type Operation,
  operationsIn,
  type PlacedOperation,
} from "../../support/http/openapi.ts";
import { freshDatabase } from "../../support/stores/services.ts";

setDefaultTimeout(300_000);

async function json(response: Response) {
  return JSON.parse(await response.text());
}

/** An organization with the objects that a request can name, and the credentials of one caller. */
interface Tenant {
  organization_id: string;
  service_account_id: string;
  targetMemberId: string;
  invite_id: string;
  /** The invite token of another organization, which the caller can redeem. */
  token: string;
  /** The ids of API keys that a request may rotate or revoke, by the kind of owner. */
  spare: { user: string; member: string; service_account: string };
  /** The caller's credentials, by kind. */
  caller: Record<Credential, string>;
}

type Credential = "none" | "jwt" | "session";

/** The path prefixes of each scope's routes: `prefix` at the gateway, `upstream` at the service. */
const SUBJECTS = {
  user: { prefix: "/user", upstream: "/users/{user_id}" },
  organization: { prefix: "/org", upstream: "/organizations/{organization_id}" },
  member: { prefix: "/member", upstream: "/members/{member_id}" },
};
const SCOPES = ["user", "organization", "member"] as const;
type Scope = (typeof SCOPES)[number];

/** A route that the catalog identity.yaml must contain. */
interface Row {
  scope: Scope;
  method: string;
  path: string;
  /** The path of the operation at the service. */
  upstream: string;
  label: string | undefined;
  /** A sample body for a request. */
  body: object | undefined;
}

/** Returns the label that a route must require. Only writes and the list of invites require one. */
function labelFor(scope: Scope, method: string, rest: string): string | undefined {
  if (scope !== "organization") return undefined;
  const [, noun = ""] = rest.split("/");
  if (method === "GET" && noun !== "invites") return undefined;
  if (noun === "") return method === "DELETE" ? "org:delete" : "org:write";
  return noun === "service-accounts" ? "org:service-accounts:write" : "org:members:write";
}

function isForStaff({ description }: Operation): boolean {
  return description.includes("Only the staff catalog publishes this operation.");
}

/** Returns the expected routes of all operations except those for staff. */
function rowsOf(description: OpenApiDocument): Row[] {
  return operationsIn(description).flatMap((operation) => {
    const { method, path: upstream } = operation;
    if (isForStaff(operation)) return [];
    const scope = SCOPES.find((each) => upstream.startsWith(SUBJECTS[each].upstream));
    if (scope === undefined)
      throw new Error(`${method} ${upstream} is published neither for customers nor for staff.`);
    const rest = upstream.slice(SUBJECTS[scope].upstream.length);
    const fields = bodyFields(description, operation);
    return {
      scope,
      method,
      upstream,
      path: `${SUBJECTS[scope].prefix}${rest}`,
      label: labelFor(scope, method, rest),
      body:
        fields === null ? undefined : Object.fromEntries(fields.map(({ name, sample }) => [name, sample])),
    };
  });
}

/** Returns how the staff catalog must publish an operation. On a user route, {user_id} is the caller. */
function staffRoute({ method, path }: PlacedOperation): string {
  const upstream = path.replace("{user_id}", "{person_id}");
  return `user ${method} /staff${upstream} ${upstream}`;
}

/** Returns the values of the path parameters. */
function paramsOf({ scope, path }: Row, tenant: Tenant): Record<string, string> {
  const ofAccount = path.includes("/service-accounts/");
  const { spare, organization_id, service_account_id, invite_id, targetMemberId } = tenant;
  const key_id = scope === "user" ? spare.user : ofAccount ? spare.service_account : spare.member;
  return { organization_id, service_account_id, invite_id, key_id, member_id: targetMemberId };
}

/** Returns the body of a request: the sample, or the token of an invite that exists. */
function bodyFor({ path, body }: Row, { token }: Tenant): object | undefined {
  return /\/(redeem|preview)$/.test(path) ? { token } : body;
}

/** Returns the status of a request that the gateway forwards. */
function successOf({ method, path }: Row): number {
  if (path.endsWith("/preview")) return 200;
  return method === "POST" ? 201 : method === "DELETE" ? 204 : 200;
}

describe("identity through the gateway", () => {
  const platform = duringTests(async () =>
    startPlatformHere({
      DATABASE_URL: await freshDatabase(),
      RATE_LIMIT_REQUESTS: "0",
      RATE_LIMIT_AUTH_FAILURE_REQUESTS: "0",
      VALIDATE_TIMEOUT_MS: "30000",
    }),
  );
  let labelsOf: ReadonlyMap<string, readonly string[]>;
  let rows: Row[];

  beforeAll(async () => {
    labelsOf = parseRolesFile(await seed("roles.yaml")).roles;
    rows = rowsOf(await json(await fetch(`${platform.addresses.identityUrl}/swagger/json`)));
  });

  /** Calls identity directly, without the gateway, to create objects. */
  async function direct(path: string, body: object = {}): Promise<Record<string, string>> {
    const response = await fetch(`${platform.addresses.identityUrl}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return json(response);
  }

  async function newPerson(): Promise<{ token: string; user_id: string }> {
    const query = `subject=${crypto.randomUUID()}`;
    const token = await (await fetch(`${platform.tour?.identityProviderUrl}/token?${query}`)).text();
    const headers = { Authorization: `Bearer ${token}` };
    const response = await admitted(() => fetch(`${platform.addresses.gatewayUrl}/user`, { headers }));
    expect(response.status).toBe(200);
    return { token, user_id: (await json(response)).id };
  }

  /** Creates an organization in which the caller has `role`. */
  async function newTenant(role: string): Promise<Tenant> {
    const [owner, caller, guest] = await Promise.all([newPerson(), newPerson(), newPerson()]);
    const organization = await direct(`/users/${owner.user_id}/organizations`, { name: "Tenant" });
    const elsewhere = await direct(`/users/${owner.user_id}/organizations`, { name: "Elsewhere" });
    const at = `/organizations/${organization.id}`;
    const join = async (user: string, as: string) => {
      const invite = await direct(`${at}/invites`, { role: as });
      return direct(`/users/${user}/invites/redeem`, { token: invite.token });
    };
    const member = await join(caller.user_id, role);
    const [guestMember, bot, invite, other] = await Promise.all([
      join(guest.user_id, "member"),
      direct(`${at}/service-accounts`, { name: "Bot" }),
      direct(`${at}/invites`),
      direct(`/organizations/${elsewhere.id}/invites`),
    ]);
    const keyOf = async (owner: string) => String((await direct(`${owner}/api-keys`)).id);
    const userPath = `/users/${caller.user_id}`;
    const [user, ofMember, service_account, session] = await Promise.all([
      keyOf(userPath),
      keyOf(`/members/${member.id}`),
      keyOf(`${at}/service-accounts/${bot.id}`),
      direct(`${userPath}${at}/session`),
    ]);
    return {
      organization_id: String(organization.id),
      service_account_id: String(bot.id),
      targetMemberId: String(guestMember.id),
      invite_id: String(invite.id),
      token: String(other.token),
      spare: { user, member: ofMember, service_account },
      caller: { none: "", jwt: caller.token, session: String(session.token) },
    };
  }

  async function callAs(credential: Credential, tenant: Tenant, row: Row): Promise<Response> {
    const { method } = row;
    const params = paramsOf(row, tenant);
    const body = bodyFor(row, tenant);
    const path = row.path.replace(/\{(\w+)\}/g, (_, name) => params[name] ?? "");
    const secret = tenant.caller[credential];
    const headers = {
      ...(credential === "jwt" && { Authorization: `Bearer ${secret}` }),
      ...(credential === "session" && { "X-API-Key": secret }),
    };
    return admitted(() =>
      fetch(`${platform.addresses.gatewayUrl}${path}`, {
        method,
        headers,
        body: body && JSON.stringify(body),
      }),
    );
  }

  /**
   * Returns the expected status: 401 for the wrong realm, 403 without the label, otherwise the service's
   * status.
   */
  function expected(row: Row, credential: Credential, role: string): number {
    if (credential === "none" || (row.scope === "user") !== (credential === "jwt")) return 401;
    const labels = labelsOf.get(role) ?? [];
    const passes = row.label === undefined || labels.includes("*") || labels.includes(row.label);
    return row.scope === "user" || passes ? successOf(row) : 403;
  }

  // ID-106
  test("is published by identity.yaml with every operation except those for staff", async () => {
    const served = describedRoutes(await seededService("identity.yaml", "identity"));
    const expected = rows.map(({ scope, method, path, upstream, label }) =>
      [scope, method, path, upstream, ...(label === undefined ? [] : [label])].join(" "),
    );
    expect(served.toSorted()).toEqual(expected.toSorted());
  });

  // ID-106
  test.each<[string, readonly Credential[]]>([
    ["owner", ["none", "jwt", "session"]],
    ["viewer", ["session"]],
  ])("serves the role %p by each route's scope and label, with the credentials %j", async (role, given) => {
    const shared = await newTenant(role);
    for (const row of rows) {
      for (const credential of given) {
        const status = expected(row, credential, role);
        const changes = row.method !== "GET" && status < 400;
        const response = await callAs(credential, changes ? await newTenant(role) : shared, row);
        const route = `${row.method} ${row.path}`;
        expect({ route, credential, status: response.status }).toEqual({ route, credential, status });
        expect([...response.headers.keys()].filter((name) => name.startsWith("x-platform"))).toEqual([]);
      }
    }
  });
});

// ID-107, AU-72
test("the staff gateway serves the staff routes to everybody with a token of its identity provider", async () => {
  const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
  const config = loadConfig(identityVariables, {
    HOST: "127.0.0.1",
    PORT: "0",
    INTERNAL_PORT: "0",
    LOG_FILE: "/dev/null",
    DATABASE_URL: await freshDatabase(),
    ROLES_FILE: "seeds/roles.yaml",
  });
  const identity = await serve(await wireIdentity(config), config);
  const identityUrl = `http://127.0.0.1:${identity.port}`;
  const audit = await startAudit();
  const gateway = await startLocalGateway({
    AUTH_ISSUER: provider.issuer,
    AUTH_JWKS_URI: provider.jwks_uri,
    CREDENTIAL_VALIDATE_URL: `http://127.0.0.1:${identity.internal_port}/internal/credentials/validate`,
  });
  const service = await seededService("staff.yaml", "identity-staff");
  const described = operationsIn(await json(await fetch(`${identityUrl}/swagger/json`))).filter(isForStaff);
  expect(routesOf(service).map(({ scope, method, path }) => `${scope} ${method} ${path}`)).toEqual([
    "user GET /staff/organizations",
    "user POST /staff/organizations",
    "user PATCH /staff/organizations/{organization_id}/plan",
    "user GET /staff/users",
    "user PATCH /staff/users/{person_id}/status",
    "user POST /staff/users/{person_id}/idps",
    "user GET /staff/members/{member_id}/user",
  ]);
  expect(describedRoutes(service).toSorted()).toEqual(described.map(staffRoute).toSorted());
  const usage = await seededService("staff.yaml", "audit-staff");
  expect(routesOf(usage).map(({ scope, method, path }) => `${scope} ${method} ${path}`)).toEqual([
    "user GET /staff/organizations/{organization_id}/usage",
  ]);
  await gateway.publish({
    "identity-staff": { ...service, url: identityUrl },
    "audit-staff": { ...usage, url: audit.url },
  });

  const token = await (await fetch(`${provider.issuer}/token?subject=staff`)).text();
  const call = async (method: string, path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await admitted(() =>
      fetch(`${gateway.url}${path}`, { method, headers, body: body && JSON.stringify(body) }),
    );
    return { status: response.status, body: await json(response) };
  };
  const users = await call("GET", "/staff/users");
  const staff = users.body.users[0].id;
  const created = await fetch(`${identityUrl}/users/${staff}/organizations`, {
    method: "POST",
    body: JSON.stringify({ name: "Listed" }),
  });
  const member = created.headers.get("x-platform-audit-member");
  expect((await call("GET", "/staff/organizations")).body.organizations).toMatchObject([{ name: "Listed" }]);
  const given = { name: "Given", user_id: staff };
  const { status, body } = await call("POST", "/staff/organizations", given);
  expect({ status, name: body.name, plan: body.plan }).toEqual({ status: 201, name: "Given", plan: null });
  expect(await call("PATCH", `/staff/organizations/${body.id}/plan`, { plan: "pro" })).toMatchObject({
    status: 200,
    body: { name: "Given", plan: "pro" },
  });
  expect(await call("GET", `/staff/members/${member}/user`)).toEqual({
    status: 200,
    body: { user_id: staff },
  });
  expect(await call("GET", `/staff/organizations/${body.id}/usage?by=service`)).toEqual({
    status: 200,
    body: { usage: [], has_more: false, gaps: [], quotas: [] },
  });
  const subject = { issuer: "https://next.example.com", subject: "staff-2" };
  expect(await call("POST", `/staff/users/${staff}/idps`, subject)).toMatchObject({
    status: 201,
    body: { user_id: staff, ...subject },
  });
  const suspended = await call("PATCH", `/staff/users/${staff}/status`, { status: "suspended" });
  expect(suspended).toMatchObject({ status: 200, body: { id: staff, status: "suspended" } });
  expect((await fetch(`${gateway.url}/staff/users`)).status).toBe(401);
  expect((await fetch(`${gateway.url}/staff/users`, { headers: { "X-API-Key": "x" } })).status).toBe(401);

  await gateway.close();
  await Promise.all([identity.shutdown(), audit.stop()]);
  await provider.stop();
});
