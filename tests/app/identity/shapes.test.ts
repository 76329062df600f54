/** Tests the exact shape of each thing that the service creates, and how it stores the secrets in it. */
import { beforeAll, describe, expect, test } from "bun:test";
import { ISSUER, NOBODY, TIME, ULID, useIdentity, wrongFields } from "./bed.ts";

const identity = useIdentity();
const id = expect.stringMatching(ULID);
const time = expect.stringMatching(TIME);
const secret = (start: string) => expect.stringMatching(new RegExp(`^${start}[A-Za-z0-9_-]{43}$`));
const created = async (path: string, body?: object) => {
  const response = await identity.call("POST", path, body);
  expect(response.status).toBe(201);
  expect(response.headers.get("cache-control")).toBe("no-store");
  return response.body;
};

let acme: Awaited<ReturnType<typeof identity.organization>>;
let at: string;
beforeAll(async () => {
  acme = await identity.organization();
  at = `/organizations/${acme.id}`;
});

// ID-7, ID-15, ID-16, ID-17
test("a person has a name, a status and the time of the last change", async () => {
  const user = await identity.person();
  const { body } = await identity.call("GET", `/users/${user}`);
  const shape = { id: user, display_name: null, status: "active", created_at: time };
  expect(body).toEqual({ ...shape, updated_at: body.created_at });
  identity.clock.advance(1000);
  const named = await identity.call("PATCH", `/users/${user}`, { display_name: "Ada" });
  expect(named.body.updated_at > body.updated_at).toBe(true);
  identity.clock.advance(1000);
  expect((await identity.call("PATCH", `/users/${user}`, { display_name: "Ada" })).body).toEqual(named.body);
});

// ID-39, ID-40, ID-41, ID-42
test("an invite has a token, one use and seven days, unless the request says otherwise", async () => {
  const body = await created(`${at}/invites`);
  const endsAfter = (seconds: number) => new Date(identity.clock.now() + seconds * 1000).toISOString();
  expect(body).toEqual({
    id,
    organization_id: acme.id,
    role: "member",
    status: "active",
    token: secret("inv_"),
    token_prefix: body.token.slice(0, 8),
    max_uses: 1,
    use_count: 0,
    created_at: time,
    expires_at: endsAfter(7 * 86_400),
  });
  const asked = { email: " a@b.example ", role: "admin", expires_in_seconds: 60, max_uses: 2_147_483_647 };
  const { expires_in_seconds: _, ...shown } = { ...asked, email: "a@b.example", expires_at: endsAfter(60) };
  expect(await created(`${at}/invites`, asked)).toMatchObject(shown);
  await created(`${at}/invites`, { email: "e".repeat(320) });
});

describe.each(["person", "member", "service account"])("a key of a %s", (owner) => {
  // ID-55, ID-56, ID-57, ID-77, ID-81
  test("has a secret that only its creation returns, and that is stored as SHA-256 hex", async () => {
    const account = await created(`${at}/service-accounts`, { name: "Bot" });
    const owners = {
      person: `/users/${acme.owner}`,
      member: `/members/${acme.ownerMember}`,
      "service account": `${at}/service-accounts/${account.id}`,
    };
    const path = `${Object.entries(owners).find(([name]) => name === owner)?.[1]}/api-keys`;
    const { key, ...record } = await created(path);
    expect({ key, ...record }).toEqual({
      id,
      name: "Unnamed Key",
      key: secret("acme-k-2-"),
      key_prefix: key.slice(0, 13),
      created_at: time,
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    });
    expect((await identity.call("GET", path)).body).toEqual({ keys: [record], has_more: false });
    const found = await identity.sql`select hash from identity.api_keys where id = ${record.id}`;
    expect(found).toEqual([{ hash: hashOf(key) }]);
    const rotated = await created(`${path}/${record.id}/rotate`);
    expect(rotated).toMatchObject({ key: secret("acme-k-2-"), name: "Unnamed Key", revoked_at: null });
    expect(rotated.id > record.id && rotated.key !== key).toBe(true);
  });
});

// ID-66, ID-67, ID-81
test("a session has the member's labels, and is stored as SHA-256 hex", async () => {
  const { id: member, user_id } = await identity.member(acme.id, "admin");
  const body = await created(`/users/${user_id}${at}/session`);
  const labels = ["org:write", "org:members:write"];
  expect(body).toEqual({
    token: secret("acme-s-2-"),
    member_id: member,
    organization_id: acme.id,
    role: "admin",
    labels,
    expires_at: new Date(identity.clock.now() + 3_600_000).toISOString(),
  });
  const found =
    await identity.sql`select member_id from identity.sessions where hash = ${hashOf(body.token)}`;
  expect(found).toEqual([{ member_id: member }]);
});

function hashOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

// ID-9
test("no response about an organization, its members, accounts, invites, keys or sessions has a user_id", async () => {
  const { id: member, user_id } = await identity.member(acme.id);
  const invite = await identity.call("POST", `${at}/invites`, { max_uses: null });
  const responses = [
    invite,
    await identity.call("POST", `${at}/service-accounts`, { name: "Bot" }),
    await identity.call("GET", at),
    await identity.call("GET", `${at}/members`),
    await identity.call("GET", `${at}/members/${member}`),
    await identity.call("GET", `/members/${acme.ownerMember}`),
    await identity.call("PATCH", `/members/${member}`, { display_name: "A" }),
    await identity.call("GET", `${at}/invites`),
    await identity.call("POST", `/users/${user_id}/invites/redeem`, { token: invite.body.token }),
    await identity.call("POST", `/users/${acme.owner}${at}/session`),
    await identity.call("POST", `/members/${member}/api-keys`),
    await identity.call("GET", `/members/${member}/api-keys`),
    await identity.call("POST", `${at}/members`, { idp: { issuer: ISSUER, subject: NOBODY } }),
    await identity.call("DELETE", `/members/${member}`),
    await identity.call("GET", `${at}/members/${member}`),
  ];
  for (const { text, headers, status } of responses) {
    expect(status).toBeLessThan(300);
    const all = text + JSON.stringify([...headers]);
    for (const each of [acme.owner, user_id, "user_id"]) expect(all).not.toContain(each);
  }
});

// ID-10
test("a path may end with one slash", async () => {
  expect(await identity.call("GET", `${at}/`)).toEqual(await identity.call("GET", at));
  expect((await identity.call("GET", "/users/?limit=1")).status).toBe(200);
  expect((await identity.call("GET", `${at}//`)).status).toBe(404);
});

// ID-119
test("a preview of an invite shows where it leads and its state, and changes nothing", async () => {
  const invite = await created(`${at}/invites`, { role: "admin", max_uses: 2, expires_in_seconds: 60 });
  const guest = await identity.person();
  const preview = async (user_id: string) => {
    const { status, body } = await identity.call("POST", `/users/${user_id}/invites/preview`, {
      token: invite.token,
    });
    return { status, body };
  };
  const { name } = (await identity.call("GET", at)).body;
  const shape = { organization: { id: acme.id, name }, role: "admin", expires_at: invite.expires_at };
  expect(await preview(guest)).toEqual({
    status: 200,
    body: { ...shape, status: "active", member_id: null },
  });
  expect(await preview(acme.owner)).toMatchObject({ body: { member_id: acme.ownerMember } });
  const stored = async () => {
    const { body } = await identity.call("GET", `${at}/invites?limit=100`);
    return body.invites.find((each: { id: string }) => each.id === invite.id);
  };
  expect(await stored()).toEqual(invite);
  const joined = await identity.call("POST", `/users/${guest}/invites/redeem`, { token: invite.token });
  expect(await preview(guest)).toMatchObject({ body: { status: "active", member_id: joined.body.id } });
  identity.clock.advance(60_000);
  expect(await preview(await identity.person())).toMatchObject({
    body: { status: "expired", member_id: null },
  });
  await identity.call("DELETE", `/members/${joined.body.id}`);
  expect(await preview(guest)).toMatchObject({ body: { member_id: null } });
  expect(await preview(crypto.randomUUID())).toMatchObject({ status: 404 });
});

// ID-45, ID-119, ER-24
test("an unknown token of an invite is 404 without details", async () => {
  const redeem = (token: string) => identity.call("POST", `/users/${acme.owner}/invites/redeem`, { token });
  const preview = (token: string) => identity.call("POST", `/users/${acme.owner}/invites/preview`, { token });
  for (const token of ["inv_unknown", "x", "\u0000", "x".repeat(10_000)]) {
    for (const { status, body } of [await redeem(token), await preview(token)])
      expect([status, body.error.code, body.error.details]).toEqual([404, "NOT_FOUND", null]);
  }
});

// ID-68
test("empty ids and a user_id of more than 128 characters are 422 for a session", async () => {
  const mint = (user: string, organization: string, body?: object) =>
    identity.call("POST", `/users/${user}/organizations/${organization}/session`, body);
  expect(wrongFields(await mint("", ""))).toEqual(["user_id", "organization_id"]);
  expect(wrongFields(await mint("x".repeat(129), acme.id))).toEqual(["user_id"]);
  expect((await mint("x".repeat(128), acme.id)).status).toBe(404);
  expect(wrongFields(await mint(acme.owner, acme.id, { ttl_seconds: 60 }))).toEqual(["ttl_seconds"]);
});
