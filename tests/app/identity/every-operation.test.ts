import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { waitFor } from "../../support/index.ts";
import { type IdentityHarness, ISSUER, NOBODY, startIdentity, wrongFields } from "./harness.ts";
import {
  filled,
  idOf,
  newTenant,
  type Operation,
  operationsOf,
  storedDigest,
  type Tenant,
} from "./tenants.ts";

/**
 * What holds for every operation, generated from the OpenAPI document. `bodies` has a row for each: one with
 * a body that would be accepted, or null for an operation without.
 */
const bodies: Record<string, object | null> = {
  addMember: { idp: { issuer: ISSUER, subject: "someone" }, role: "member" },
  createInvite: { email: "a@example.com", role: "viewer", expires_in_seconds: 60, max_uses: 1 },
  createMemberApiKey: { name: "Key", expires_in_seconds: 60 },
  createOrganization: { name: "Organization" },
  createServiceAccount: { name: "Bot", role: "viewer" },
  createServiceAccountApiKey: { name: "Key" },
  createUserApiKey: { name: "Key" },
  deleteOrganization: null,
  deleteUser: null,
  getMember: null,
  getMemberSelf: null,
  getOrganization: null,
  getServiceAccount: null,
  getUser: null,
  getUserOfMember: null,
  listInvites: null,
  listMemberApiKeys: null,
  listMembers: null,
  listMemberships: null,
  listOrganizations: null,
  listRoles: null,
  listServiceAccountApiKeys: null,
  listServiceAccounts: null,
  listUserApiKeys: null,
  listUsers: null,
  mintSession: {},
  redeemInvite: { token: "inv_unknown" },
  removeMember: null,
  removeMemberSelf: null,
  removeServiceAccount: null,
  revokeInvite: null,
  revokeMemberApiKey: null,
  revokeServiceAccountApiKey: null,
  revokeUserApiKey: null,
  rotateMemberApiKey: { overlap_seconds: 60 },
  rotateServiceAccountApiKey: { overlap_seconds: 60 },
  rotateUserApiKey: { overlap_seconds: 60 },
  updateMember: { status: "suspended", role: "viewer", display_name: "Name" },
  updateMemberSelf: { status: "suspended", display_name: "Name" },
  updateOrganization: { name: "Renamed" },
  updateServiceAccount: { name: "Renamed" },
  updateUser: { display_name: "Renamed" },
  updateUserStatus: { status: "suspended" },
};

let identity: IdentityHarness;
let operations: Operation[];
let ours: Tenant;
let theirs: Tenant;

beforeAll(async () => {
  identity = await startIdentity();
  operations = await operationsOf(identity);
  ours = await newTenant(identity, "Ours");
  theirs = await newTenant(identity, "Theirs");
});
afterAll(() => identity.close());

const bodyOf = ({ id }: Operation) => bodies[id] ?? undefined;

/** Strings of a tenant that no answer to another may hold. */
function secretsOf({ keys, ...ids }: Tenant): string[] {
  return [...Object.values(ids), ...Object.values(keys)];
}

async function expectNotFound(operation: Operation, values: string[]): Promise<void> {
  const answer = await identity.call(operation.method, filled(operation, values), bodyOf(operation));
  const { id } = operation;
  expect({ operation: id, values, status: answer.status }).toEqual({ operation: id, values, status: 404 });
  const told = JSON.stringify([answer.text, [...answer.headers]]);
  const sent = values.filter((value) => value !== "");
  for (const secret of [...secretsOf(theirs), "Theirs"]) {
    if (!sent.includes(secret)) expect(told).not.toContain(secret);
  }
}

/** Values that no field of this name accepts. */
function wrongValues(field: string): unknown[] {
  const texts = ["", "   ", "\u0000", "a\u0000b", "\ud800", "a\u001fb", "x".repeat(4096)];
  const others = [true, [], {}, [null], -1];
  if (field === "token") return ["", 7, ...others];
  if (field === "max_uses" || field.endsWith("_seconds")) return [...texts, ...others];
  return [...texts, 7, ...others];
}

test("every operation of the document has a row here, and every row an operation", () => {
  expect(operations.map(({ id }) => id).toSorted()).toEqual(Object.keys(bodies).toSorted());
  for (const operation of operations) expect(operation.takes_body).toBe(bodies[operation.id] !== null);
});

describe("two tenants", () => {
  test("ids of another organization or person are 404 everywhere, tell nothing and write nothing", async () => {
    const before = await storedDigest(identity);
    let calls = 0;
    for (const operation of operations) {
      const { params } = operation;
      const own = params.map((param) => idOf(ours, operation, param));
      const other = params.map((param) => idOf(theirs, operation, param));
      for (let mask = 1; mask < 2 ** params.length - 1; mask++) {
        await expectNotFound(
          operation,
          own.map((id, index) => (mask & (1 << index) ? (other[index] ?? "") : id)),
        );
        calls += 1;
      }
    }
    expect(calls).toBeGreaterThan(25);
    expect(await storedDigest(identity)).toBe(before);
  });

  test("ids of another kind, of nobody and of no form are 404, and write nothing", async () => {
    const before = await storedDigest(identity);
    const strange = [
      NOBODY,
      ours.user_id.toLowerCase(),
      "%00",
      `${ours.user_id}%00`,
      "%ED%A0%80",
      "%FF",
      "%F0%9F%9A%AA",
      "x",
      "-1",
      "%27%20or%20true--",
      "x".repeat(128),
      "0".repeat(26),
      "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
      encodeURIComponent("../users"),
    ];
    for (const operation of operations) {
      for (const [index, param] of operation.params.entries()) {
        const own = operation.params.map((each) => idOf(ours, operation, each));
        const others = [...secretsOf(ours), ...secretsOf(theirs)].filter(
          (id) => id !== idOf(theirs, operation, param) && !own.includes(id) && !id.startsWith("inv_"),
        );
        for (const id of [...strange, ...others]) await expectNotFound(operation, own.with(index, id));
      }
    }
    expect(await storedDigest(identity)).toBe(before);
  }, 120_000);
});

describe("bad input", () => {
  test("unknown and repeated query parameters are 422, and write nothing", async () => {
    const before = await storedDigest(identity);
    for (const operation of operations) {
      const path = filled(
        operation,
        operation.params.map((param) => idOf(ours, operation, param)),
      );
      const unknown = await identity.call(operation.method, `${path}?verbose=1`, bodyOf(operation));
      expect(wrongFields(unknown)).toEqual(["verbose"]);
      const twice = await identity.call(operation.method, `${path}?limit=1&limit=2`, bodyOf(operation));
      expect(wrongFields(twice)).toEqual(["limit"]);
    }
    expect(await storedDigest(identity)).toBe(before);
  });

  test("bodies that are no JSON are 400, no object or with unknown fields 422, too large 413", async () => {
    const before = await storedDigest(identity);
    for (const operation of operations.filter(({ takes_body }) => takes_body)) {
      const path = filled(
        operation,
        operation.params.map((param) => idOf(ours, operation, param)),
      );
      const call = (body: unknown) => identity.call(operation.method, path, body);
      for (const text of ["{", "{'name':1}", "nul", '{"name":"a"}}'])
        expect((await call(text)).status).toBe(400);
      for (const body of ["[]", "null", "7", '"name"', "[{}]"]) {
        expect({ id: operation.id, body, status: (await call(body)).status }).toMatchObject({ status: 422 });
      }
      for (const field of ["unknown", "id", "__proto__", "constructor", "user_id"]) {
        const text = JSON.stringify(bodyOf(operation)).replace(/\}$/, `,"${field}":1}`).replace("{,", "{");
        expect(wrongFields(await call(text))).toContain(field);
      }
      const large = await call(JSON.stringify({ name: "x".repeat(70_000) }));
      expect(large.status).toBe(413);
      expect(large.body.error.details).toEqual({ max_size_bytes: 65_536 });
    }
    expect(await storedDigest(identity)).toBe(before);
  });

  test("every field refuses every wrong value with 422 that names it, and nothing is written", async () => {
    const attempts = operations.flatMap((operation) =>
      operation.fields.flatMap((field) => wrongValues(field).map((value) => ({ operation, field, value }))),
    );
    expect(attempts.length).toBeGreaterThan(200);
    for (const { operation, field, value } of attempts) {
      const path = filled(
        operation,
        operation.params.map((param) => idOf(ours, operation, param)),
      );
      const before = await storedDigest(identity);
      const body = { ...bodyOf(operation), [field]: value };
      const answer = await identity.call(operation.method, path, body);
      const fields = [...new Set(wrongFields(answer).map((each) => each.split(".")[0]))];
      expect({ operation: operation.id, field, value, fields }).toMatchObject({ fields: [field] });
      expect(await storedDigest(identity)).toBe(before);
    }
  }, 120_000);

  test("unknown paths are 404, other methods 405 with Allow, for every path", async () => {
    expect((await identity.call("GET", "/nothing")).status).toBe(404);
    for (const path of new Set(operations.map((operation) => operation.path))) {
      const allowed = operations.filter((operation) => operation.path === path).map(({ method }) => method);
      const concrete = path.replace(/\{\w+\}/g, NOBODY);
      const answer = await identity.call("PUT", concrete, {});
      expect(answer.status).toBe(405);
      expect(answer.body.error.code).toBe("METHOD_NOT_ALLOWED");
      const named = answer.headers.get("allow")?.split(", ") ?? [];
      expect(named.toSorted()).toEqual(expect.arrayContaining(allowed.toSorted()));
    }
  });
});

test("no answer carries X-Request-ID; errors name the request that came", async () => {
  for (const operation of operations) {
    const path = filled(
      operation,
      operation.params.map(() => NOBODY),
    );
    const answer = await identity.call(operation.method, path, bodyOf(operation));
    expect(answer.headers.has("x-request-id")).toBe(false);
  }
});

test("log lines name the template of the route and whom it is about, and no id that is none", async () => {
  const { id, owner, owner_member } = await identity.organization();
  await identity.call("GET", `/organizations/${id}/members/${owner_member}`);
  await identity.call("GET", `/users/${owner}`);
  await identity.call("GET", "/users/not-an-id");
  const lines = await waitFor(async () => {
    const written = (await identity.log()).split("\n").filter((line) => line !== "");
    const all = written
      .map((line) => JSON.parse(line))
      .filter(({ message }) => message === "request completed");
    const first = all.findIndex(({ member_id }) => member_id === owner_member);
    return first >= 0 && all.length >= first + 3 && all.slice(first, first + 3);
  });
  expect(lines).toMatchObject([
    {
      route: "/organizations/{organization_id}/members/{member_id}",
      organization_id: id,
      member_id: owner_member,
    },
    { route: "/users/{user_id}", user_id: owner, status: 200 },
    { route: "/users/{user_id}", status: 404 },
  ]);
  expect(JSON.stringify(lines)).not.toContain("not-an-id");
});
