import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { startIdentityProvider } from "@ostiary/demo";
import { type StoredServiceConfig, validateDocument } from "@ostiary/lib/domain/routes";
import { parseRolesFile } from "@ostiary/lib/runtime/config/roles-file";
import { parse } from "yaml";
import { startLocalGateway } from "../support/gateway.ts";
import { freshDatabase, startProcess } from "../support/index.ts";
import { type Stack, startStack } from "../support/stack.ts";

const SEEDS = join(import.meta.dir, "../../seeds");
const seed = (name: string) => Bun.file(join(SEEDS, name)).text();

async function json(response: Response) {
  return JSON.parse(await response.text());
}

/** What a row of the catalog has to work on, in an organization of its own. */
interface World {
  user_id: string;
  organization_id: string;
  member_id: string;
  service_account_id: string;
  service_account_member_id: string;
  target_member_id: string;
  invite_id: string;
  /** A token of another organization's invite. */
  token: string;
  /** Keys by their owner, beside the caller's. */
  spare: { user: string; member: string; service_account: string };
  /** The caller's credential, by kind. */
  caller: Record<Credential, string>;
}

type Credential = "none" | "jwt" | "user key" | "member key" | "session" | "service account key";
type Scope = "user" | "organization" | "member";

interface Row {
  scope: Scope;
  route: `${"GET" | "POST" | "PATCH" | "DELETE"} /${string}`;
  label?: string;
  status: number;
  /** Path parameters and body, given what is there. */
  params?(world: World, credential: Credential): Record<string, string>;
  body?(world: World): object;
}

const named = () => ({ name: "Catalog" });
const newIdp = () => ({ idp: { issuer: "https://other.example.com", subject: crypto.randomUUID() } });
const account = (world: World) => ({ service_account_id: world.service_account_id });
const overlap = () => ({ overlap_seconds: 60 });
const spareOfMember = ({ spare }: World, credential: Credential) => ({
  key_id: credential === "service account key" ? spare.service_account : spare.member,
});
const target = (world: World) => ({ member_id: world.target_member_id });
const WRITE_MEMBERS = "org:members:write";
const WRITE_ACCOUNTS = "org:service-accounts:write";

/** Every route of the catalog, and what a caller who may call it is answered. */
const rows: Row[] = [
  { scope: "user", route: "GET /user", status: 200 },
  { scope: "user", route: "PATCH /user", status: 200, body: () => ({ display_name: "Catalog" }) },
  { scope: "user", route: "DELETE /user", status: 204 },
  { scope: "user", route: "GET /user/memberships", status: 200 },
  { scope: "user", route: "POST /user/organizations", status: 201, body: named },
  { scope: "user", route: "GET /user/api-keys", status: 200 },
  { scope: "user", route: "POST /user/api-keys", status: 201, body: named },
  {
    scope: "user",
    route: "DELETE /user/api-keys/{key_id}",
    status: 204,
    params: ({ spare }) => ({ key_id: spare.user }),
  },
  {
    scope: "user",
    route: "POST /user/api-keys/{key_id}/rotate",
    status: 201,
    params: ({ spare }) => ({ key_id: spare.user }),
    body: overlap,
  },
  { scope: "user", route: "POST /user/invites/redeem", status: 201, body: ({ token }) => ({ token }) },
  {
    scope: "user",
    route: "POST /user/organizations/{organization_id}/session",
    status: 201,
    params: ({ organization_id }) => ({ organization_id }),
  },
  { scope: "organization", route: "GET /org", status: 200 },
  { scope: "organization", route: "PATCH /org", label: "org:write", status: 200, body: named },
  { scope: "organization", route: "DELETE /org", label: "org:delete", status: 204 },
  { scope: "organization", route: "GET /org/roles", status: 200 },
  { scope: "organization", route: "GET /org/members", status: 200 },
  { scope: "organization", route: "POST /org/members", label: WRITE_MEMBERS, status: 201, body: newIdp },
  { scope: "organization", route: "GET /org/members/{member_id}", status: 200, params: target },
  {
    scope: "organization",
    route: "PATCH /org/members/{member_id}",
    label: WRITE_MEMBERS,
    status: 200,
    params: target,
    body: () => ({ role: "viewer" }),
  },
  {
    scope: "organization",
    route: "DELETE /org/members/{member_id}",
    label: WRITE_MEMBERS,
    status: 204,
    params: target,
  },
  { scope: "organization", route: "GET /org/invites", label: WRITE_MEMBERS, status: 200 },
  { scope: "organization", route: "POST /org/invites", label: WRITE_MEMBERS, status: 201, body: () => ({}) },
  {
    scope: "organization",
    route: "DELETE /org/invites/{invite_id}",
    label: WRITE_MEMBERS,
    status: 204,
    params: ({ invite_id }) => ({ invite_id }),
  },
  { scope: "organization", route: "GET /org/service-accounts", status: 200 },
  {
    scope: "organization",
    route: "POST /org/service-accounts",
    label: WRITE_ACCOUNTS,
    status: 201,
    body: named,
  },
  {
    scope: "organization",
    route: "GET /org/service-accounts/{service_account_id}",
    status: 200,
    params: account,
  },
  {
    scope: "organization",
    route: "PATCH /org/service-accounts/{service_account_id}",
    label: WRITE_ACCOUNTS,
    status: 200,
    params: account,
    body: named,
  },
  {
    scope: "organization",
    route: "DELETE /org/service-accounts/{service_account_id}",
    label: WRITE_ACCOUNTS,
    status: 204,
    params: account,
  },
  {
    scope: "organization",
    route: "GET /org/service-accounts/{service_account_id}/api-keys",
    status: 200,
    params: account,
  },
  {
    scope: "organization",
    route: "POST /org/service-accounts/{service_account_id}/api-keys",
    label: WRITE_ACCOUNTS,
    status: 201,
    params: account,
    body: named,
  },
  {
    scope: "organization",
    route: "DELETE /org/service-accounts/{service_account_id}/api-keys/{key_id}",
    label: WRITE_ACCOUNTS,
    status: 204,
    params: (world) => ({ ...account(world), key_id: world.spare.service_account }),
  },
  {
    scope: "organization",
    route: "POST /org/service-accounts/{service_account_id}/api-keys/{key_id}/rotate",
    label: WRITE_ACCOUNTS,
    status: 201,
    params: (world) => ({ ...account(world), key_id: world.spare.service_account }),
    body: overlap,
  },
  { scope: "member", route: "GET /member", status: 200 },
  { scope: "member", route: "PATCH /member", status: 200, body: () => ({ status: "active" }) },
  { scope: "member", route: "DELETE /member", status: 204 },
  { scope: "member", route: "GET /member/api-keys", status: 200 },
  { scope: "member", route: "POST /member/api-keys", status: 201, body: named },
  {
    scope: "member",
    route: "DELETE /member/api-keys/{key_id}",
    status: 204,
    params: spareOfMember,
  },
  {
    scope: "member",
    route: "POST /member/api-keys/{key_id}/rotate",
    status: 201,
    params: spareOfMember,
    body: overlap,
  },
];

/** The routes of a catalog as the gateway would serve them, with their scopes and labels. */
function routesOf(service: StoredServiceConfig) {
  return (["public", "user", "organization", "member"] as const).flatMap((scope) =>
    (service[scope]?.routes ?? []).flatMap(({ path, methods, required_labels }) =>
      methods.map((method) => ({ scope, route: `${method} ${path}`, labels: required_labels ?? [] })),
    ),
  );
}

function catalog(text: string, name: string): StoredServiceConfig {
  const result = validateDocument(parse(text));
  const service = result.ok ? result.services.get(name) : undefined;
  if (service === undefined) throw new Error(`${name} is refused: ${JSON.stringify(result)}`);
  return service;
}

test("identity.yaml holds these routes with these labels, and no other", async () => {
  const served = routesOf(catalog(await seed("identity.yaml"), "identity"));
  const expected = rows.map(({ scope, route, label }) => ({ scope, route, labels: label ? [label] : [] }));
  const byRoute = (a: { route: string }, b: { route: string }) => a.route.localeCompare(b.route);
  expect(served.toSorted(byRoute)).toEqual(expected.toSorted(byRoute));
});

describe("through the gateway", () => {
  let stack: Stack;
  let labelsOf: ReadonlyMap<string, readonly string[]>;

  beforeAll(async () => {
    labelsOf = parseRolesFile(await seed("roles.yaml")).roles;
    stack = await startStack({ RATE_LIMIT_REQUESTS: "0", RATE_LIMIT_AUTH_FAILURE_REQUESTS: "0" });
  }, 120_000);
  afterAll(() => stack.close(), 60_000);

  /** Calls identity past the gateway, to set things up. */
  async function direct(path: string, body: object = {}): Promise<Record<string, string>> {
    const response = await fetch(`${stack.identity.url}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return json(response);
  }

  async function newPerson(): Promise<{ token: string; user_id: string }> {
    const query = `subject=${crypto.randomUUID()}`;
    const token = await (await fetch(`${stack.identity_provider_url}/token?${query}`)).text();
    const response = await fetch(`${stack.gateway.url}/user`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
    return { token, user_id: (await json(response)).id };
  }

  /** An organization where the caller, and its service account, have `role`. */
  async function newWorld(role: string): Promise<World> {
    const [owner, caller, guest] = await Promise.all([newPerson(), newPerson(), newPerson()]);
    const organization = await direct(`/users/${owner.user_id}/organizations`, { name: "World" });
    const elsewhere = await direct(`/users/${owner.user_id}/organizations`, { name: "Elsewhere" });
    const at = `/organizations/${organization.id}`;
    const join = async (user: string, as: string) => {
      const invite = await direct(`${at}/invites`, { role: as });
      return direct(`/users/${user}/invites/redeem`, { token: invite.token });
    };
    const member = await join(caller.user_id, role);
    const [guestMember, bot, invite, other] = await Promise.all([
      join(guest.user_id, "member"),
      direct(`${at}/service-accounts`, { name: "Bot", role }),
      direct(`${at}/invites`),
      direct(`/organizations/${elsewhere.id}/invites`),
    ]);
    const key = (owner: string) => direct(`${owner}/api-keys`);
    const botPath = `${at}/service-accounts/${bot.id}`;
    const userPath = `/users/${caller.user_id}`;
    const [userKey, memberKey, botKey, session, ...spare] = await Promise.all([
      key(userPath),
      key(`/members/${member.id}`),
      key(botPath),
      direct(`${userPath}${at}/session`),
      key(userPath),
      key(`/members/${member.id}`),
      key(botPath),
    ]);
    return {
      user_id: caller.user_id,
      organization_id: String(organization.id),
      member_id: String(member.id),
      service_account_id: String(bot.id),
      service_account_member_id: String(bot.member_id),
      target_member_id: String(guestMember.id),
      invite_id: String(invite.id),
      token: String(other.token),
      spare: {
        user: String(spare[0]?.id),
        member: String(spare[1]?.id),
        service_account: String(spare[2]?.id),
      },
      caller: {
        none: "",
        jwt: caller.token,
        "user key": String(userKey?.key),
        "member key": String(memberKey?.key),
        session: String(session?.token),
        "service account key": String(botKey?.key),
      },
    };
  }

  async function callAs(credential: Credential, world: World, row: Row): Promise<Response> {
    const [method, template = ""] = row.route.split(" ");
    const params = row.params?.(world, credential) ?? {};
    const path = template.replace(/\{(\w+)\}/g, (_, name) => params[name] ?? "");
    const secret = world.caller[credential];
    return fetch(`${stack.gateway.url}${path}`, {
      method,
      headers: {
        ...(credential === "jwt" && { Authorization: `Bearer ${secret}` }),
        ...(credential !== "jwt" && credential !== "none" && { "X-API-Key": secret }),
      },
      body: row.body === undefined ? undefined : JSON.stringify(row.body(world)),
    });
  }

  /** What the specification says: 401 for the wrong realm, 403 without the label, else the service's answer. */
  function expected(row: Row, credential: Credential, role: string): number {
    const realm = credential === "jwt" || credential === "user key" ? "user" : "organization";
    if (credential === "none" || (row.scope === "user") !== (realm === "user")) return 401;
    const labels = labelsOf.get(role) ?? [];
    const passes = row.label === undefined || labels.includes("*") || labels.includes(row.label);
    return row.scope === "user" || passes ? row.status : 403;
  }

  const credentials: Credential[] = [
    "none",
    "jwt",
    "user key",
    "member key",
    "session",
    "service account key",
  ];

  test.each(["owner", "admin", "member", "auditor", "viewer"])(
    "every route answers the role %p as its scope and label say, for every kind of credential",
    async (role) => {
      const shared = await newWorld(role);
      for (const row of rows) {
        for (const credential of credentials) {
          const status = expected(row, credential, role);
          const reads = row.route.startsWith("GET") || status >= 400;
          const world = reads ? shared : await newWorld(role);
          const answer = await callAs(credential, world, row);
          const { route } = row;
          expect({ route, credential, status: answer.status }).toEqual({ route, credential, status });
          const headers = [...answer.headers.keys()];
          expect(headers.filter((name) => name.startsWith("x-platform"))).toEqual([]);
          expect(headers.filter((name) => name === "x-request-id")).toHaveLength(1);
        }
      }
    },
    300_000,
  );

  test("staff.yaml would be applied as it is", async () => {
    const response = await fetch(`${stack.registry.url}/apply?dry_run=true`, {
      method: "POST",
      headers: { Authorization: `Bearer ${stack.admin_token}`, "Content-Type": "application/yaml" },
      body: await seed("staff.yaml"),
    });
    expect(response.status).toBe(200);
    const { results } = await json(response);
    expect(results).toMatchObject([{ service: "identity-staff", status: "created" }]);
  });
});

test("the staff's own gateway serves the four staff routes to whoever its provider admits", async () => {
  const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
  const identity = await startProcess("apps/identity/main.ts", {
    DATABASE_URL: await freshDatabase(),
    ROLES_FILE: "seeds/roles.yaml",
  });
  const gateway = await startLocalGateway({
    AUTH_ISSUER: provider.issuer,
    AUTH_JWKS_URI: provider.jwks_uri,
    CREDENTIAL_VALIDATE_URL: `${identity.internal_url}/internal/credentials/validate`,
  });
  const service = catalog(await seed("staff.yaml"), "identity-staff");
  expect(routesOf(service).map(({ scope, route }) => `${scope} ${route}`)).toEqual([
    "user GET /staff/organizations",
    "user GET /staff/users",
    "user PATCH /staff/users/{person_id}/status",
    "user GET /staff/members/{member_id}/user",
  ]);
  await gateway.publish({ "identity-staff": { ...service, url: identity.url } });

  const token = await (await fetch(`${provider.issuer}/token?subject=staff`)).text();
  const call = async (method: string, path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${gateway.url}${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    });
    return { status: response.status, body: await json(response) };
  };
  const users = await call("GET", "/staff/users");
  const staff = users.body.users[0].id;
  const created = await fetch(`${identity.url}/users/${staff}/organizations`, {
    method: "POST",
    body: JSON.stringify({ name: "Listed" }),
  });
  const member = created.headers.get("x-platform-audit-member");
  expect((await call("GET", "/staff/organizations")).body.organizations).toMatchObject([{ name: "Listed" }]);
  expect(await call("GET", `/staff/members/${member}/user`)).toEqual({
    status: 200,
    body: { user_id: staff },
  });
  const suspended = await call("PATCH", `/staff/users/${staff}/status`, { status: "suspended" });
  expect(suspended).toMatchObject({ status: 200, body: { id: staff, status: "suspended" } });
  expect((await fetch(`${gateway.url}/staff/users`)).status).toBe(401);
  expect((await fetch(`${gateway.url}/staff/users`, { headers: { "X-API-Key": "x" } })).status).toBe(401);

  await gateway.close();
  await identity.stop();
  await provider.stop();
}, 60_000);
