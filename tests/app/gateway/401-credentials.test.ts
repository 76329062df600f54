/** Tests admission in a whole gateway, with the real identity service and an identity provider. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type IdentityProvider, startIdentityProvider } from "@ostiary/demo";
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { type LocalGateway, startLocalGateway } from "../../support/gateway/gateway.ts";
import { RawClient } from "../../support/http/raw-http.ts";
import { freshDatabase, startProcess, waitFor } from "../../support/index.ts";

const START_TIMEOUT_MS = 60_000;
/** The length of a body that the gateway streams. */
const LONG = 100_000;
const INTERNAL_AUTH_TOKEN = "inner-token-of-the-house";

/** The bodies of the complete POST requests that reached the service. */
const changes: string[] = [];
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    if (request.method === "POST") changes.push(await request.text());
    return new Response(new URL(request.url).pathname);
  },
});
let provider: IdentityProvider;
let directory: Awaited<ReturnType<typeof startDirectory>>;
let gateway: LocalGateway;
/** A gateway without caches, so that every change takes effect at once. */
let fresh: LocalGateway;

let user_id: string;
let organization: { id: string; member_id: string };
let secrets: { jwt: string; user: string; member: string; service: string; session: string };

const services = (): Record<string, StoredServiceConfig> => ({
  things: {
    url: `http://127.0.0.1:${upstream.port}`,
    user: { routes: [{ path: "/user", upstream: "/u/{subject.user_id}", methods: ["GET"] }] },
    organization: {
      routes: [
        { path: "/org", upstream: "/o/{subject.organization_id}", methods: ["GET"] },
        { path: "/org/admin", upstream: "/admin", methods: ["GET"], required_labels: ["org:write"] },
      ],
    },
    member: {
      routes: [
        {
          path: "/member",
          upstream: "/o/{subject.organization_id}/m/{subject.member_id}",
          methods: ["GET"],
        },
        { path: "/member/change", upstream: "/change", methods: ["POST"] },
      ],
    },
  },
});

/** Starts identity as a process, with calls that create people, organizations and credentials. */
async function startDirectory() {
  const running = await startProcess("apps/identity/main.ts", {
    DATABASE_URL: await freshDatabase(),
    ROLES_FILE: "seeds/roles.yaml",
    APIKEY_BRAND: "acme",
    INTERNAL_AUTH_TOKEN,
  });
  const validateUrl = `${running.internalUrl}/internal/credentials/validate`;
  const ask = async (method: string, url: string, body?: object) => {
    const headers = {
      "content-type": "application/json",
      "x-platform-internal-token": INTERNAL_AUTH_TOKEN,
    };
    const response = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
    return { headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
  };
  const call = async (method: string, path: string, body?: object) =>
    (await ask(method, `${running.url}${path}`, body)).body;
  return {
    validateUrl,
    call,
    async person(issuer: string, subject: string) {
      return (await ask("POST", validateUrl, { idp: { issuer, subject } })).body.user_id;
    },
    async organization(owner: string) {
      const created = await ask("POST", `${running.url}/users/${owner}/organizations`, { name: "Acme" });
      return { id: created.body.id, member_id: created.headers.get("x-platform-audit-member") ?? "" };
    },
    async key(owner: string) {
      const { id, key } = await call("POST", `${owner}/api-keys`, {});
      return { key, path: `${owner}/api-keys/${id}` };
    },
    async session(person: string, organization_id: string) {
      return (await call("POST", `/users/${person}/organizations/${organization_id}/session`)).token;
    },
    stop: running.stop,
  };
}

async function open(env: Record<string, string> = {}): Promise<LocalGateway> {
  const opened = await startLocalGateway({
    AUTH_ISSUER: provider.issuer,
    AUTH_JWKS_URI: provider.jwks_uri,
    CREDENTIAL_VALIDATE_URL: directory.validateUrl,
    INTERNAL_AUTH_TOKEN,
    ...env,
  });
  await opened.publish(services());
  await waitFor(async () => (await fetch(`${opened.internalUrl}/health/ready`)).ok);
  return opened;
}

beforeAll(async () => {
  provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
  directory = await startDirectory();
  [gateway, fresh] = await Promise.all([open(), open({ APIKEY_CACHE_TTL_SECS: "0" })]);
  user_id = await directory.person(provider.issuer, "alice");
  organization = await directory.organization(user_id);
  const account = await directory.call("POST", `/organizations/${organization.id}/service-accounts`, {
    name: "bot",
  });
  secrets = {
    jwt: await token("alice"),
    user: (await directory.key(`/users/${user_id}`)).key,
    member: (await directory.key(`/members/${organization.member_id}`)).key,
    service: (await directory.key(`/members/${account.member_id}`)).key,
    session: await directory.session(user_id, organization.id),
  };
}, START_TIMEOUT_MS);

afterAll(async () => {
  await Promise.all([gateway.close(), fresh.close(), directory.stop(), provider.stop(), upstream.stop(true)]);
});

async function token(subject: string): Promise<string> {
  return (await fetch(`${provider.issuer}/token?subject=${subject}`)).text();
}

const bearer = (jwt: string) => ({ authorization: `Bearer ${jwt}` });
const key = (text: string) => ({ "x-api-key": text });
const get = (path: string, headers: Record<string, string> = {}, from = gateway) =>
  fetch(`${from.url}${path}`, { headers });
const status = async (path: string, headers: Record<string, string>, from = fresh) =>
  (await get(path, headers, from)).status;
/** Returns the path with which the service was called, or the status if the request was refused. */
const reached = async (path: string, headers: Record<string, string>) => {
  const response = await get(path, headers);
  return response.ok ? response.text() : response.status;
};

// GW-33, GW-34, GW-35
describe("a credential reaches the owner that the route's scope names, or gets 401:", () => {
  const all = async (headers: Record<string, string>) => [
    await reached("/user", headers),
    await reached("/org", headers),
    await reached("/member", headers),
  ];
  const ofUser = () => [`/u/${user_id}`, 401, 401];
  const ofMember = (member_id: string) => [
    401,
    `/o/${organization.id}`,
    `/o/${organization.id}/m/${member_id}`,
  ];

  test("JWT", async () => expect(await all(bearer(secrets.jwt))).toEqual(ofUser()));
  test("user key", async () => expect(await all(key(secrets.user))).toEqual(ofUser()));
  test("member key", async () =>
    expect(await all(key(secrets.member))).toEqual(ofMember(organization.member_id)));
  test("session", async () =>
    expect(await all(key(secrets.session))).toEqual(ofMember(organization.member_id)));
  test("service account's key", async () => {
    const [user, org, member] = await all(key(secrets.service));
    expect([user, org]).toEqual([401, `/o/${organization.id}`]);
    expect(member).not.toContain(organization.member_id);
  });
});

// GW-47
test("a token whose subject identity does not accept gets 401", async () => {
  for (const subject of ["a\0b", "\x7f"]) {
    expect(await status("/user", bearer(await token(encodeURIComponent(subject))))).toBe(401);
  }
});

// GW-57, GW-62, GW-221
describe("a change at identity takes effect at once without a cache, and soon at a gateway that caches:", () => {
  type Case = readonly [path: string, headers: Record<string, string>, expected: number];

  /** Checks the statuses at the gateway without caches, and waits for them at the other one. */
  async function become(...cases: readonly Case[]): Promise<void> {
    const statuses = (from: LocalGateway) =>
      Promise.all(cases.map(([path, headers]) => status(path, headers, from)));
    const expected = cases.map(([, , each]) => each);
    expect(await statuses(fresh)).toEqual(expected);
    await waitFor(async () => Bun.deepEquals(await statuses(gateway), expected));
  }

  test("a revoked key", async () => {
    const { key: text, path } = await directory.key(`/users/${user_id}`);
    await become(["/user", key(text), 200]);
    await directory.call("DELETE", path);
    await become(["/user", key(text), 401]);
  });

  test("the end of a rotated key's overlap", async () => {
    const { key: text, path } = await directory.key(`/users/${user_id}`);
    await become(["/user", key(text), 200]);
    await directory.call("POST", `${path}/rotate`, { overlap_seconds: 1 });
    await waitFor(async () => (await status("/user", key(text))) === 401);
    await become(["/user", key(text), 401]);
  });

  // GW-48, GW-222
  test("a suspended person, with token, user key, member key and session", async () => {
    const carol = await directory.person(provider.issuer, "carol");
    const { id, member_id } = await directory.organization(carol);
    const credentials: [string, Record<string, string>][] = [
      ["/user", bearer(await token("carol"))],
      ["/user", key((await directory.key(`/users/${carol}`)).key)],
      ["/member", key((await directory.key(`/members/${member_id}`)).key)],
      ["/member", key(await directory.session(carol, id))],
    ];
    const all = (expected: number) => become(...credentials.map((each): Case => [...each, expected]));
    await all(200);
    await directory.call("PATCH", `/users/${carol}/status`, { status: "suspended" });
    await all(401);
    await directory.call("PATCH", `/users/${carol}/status`, { status: "active" });
    await all(200);
  });

  test("a member's role, and a deleted organization", async () => {
    const dave = await directory.person(provider.issuer, "dave");
    const { id } = await directory.organization(await directory.person(provider.issuer, "erin"));
    const body = { idp: { issuer: provider.issuer, subject: "dave" }, role: "viewer" };
    const member = await directory.call("POST", `/organizations/${id}/members`, body);
    const session = key(await directory.session(dave, id));
    await become(["/org/admin", session, 403]);
    await directory.call("PATCH", `/organizations/${id}/members/${member.id}`, { role: "admin" });
    await become(["/org/admin", session, 200]);
    await directory.call("DELETE", `/organizations/${id}`);
    await become(["/org/admin", session, 401]);
  });

  // GW-235
  test.each([
    ["a short body", "content-length: 7", "chan", "ged"],
    ["a body in chunks", "transfer-encoding: chunked", "4\r\nchan\r\n", "3\r\nged\r\n0\r\n\r\n"],
    ["a long body", `content-length: ${LONG}`, "x".repeat(LONG - 1), "x"],
  ])("a suspended member whose request holds back the end of %s", async (_, framing, first, rest) => {
    const frank = await directory.person(provider.issuer, "frank");
    const { id, member_id } = await directory.organization(frank);
    const session = await directory.session(frank, id);
    await become(["/member", key(session), 200]);
    /** Sends a request whose end waits for `between`. */
    async function held(between: () => Promise<void>): Promise<number> {
      const client = await RawClient.connect(gateway.url);
      client.send(
        `POST /member/change HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\nx-api-key: ${session}\r\n${framing}\r\n\r\n${first}`,
      );
      await between();
      client.send(rest);
      return (await client.response("POST")).status;
    }
    const before = changes.length;
    expect(await held(async () => {})).toBe(200);
    const suspended = async () => {
      await directory.call("PATCH", `/members/${member_id}`, { status: "suspended" });
      await become(["/member", key(session), 401]);
    };
    expect(await held(suspended)).toBe(401);
    expect(changes).toHaveLength(before + 1);
  });
});
