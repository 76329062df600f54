import { describe, expect, test } from "bun:test";
import { atTestEnd } from "../../support/at-test-end.ts";
import { services, waitFor } from "../../support/index.ts";
import { heldTransaction } from "../../support/stores/held-transaction.ts";
import { type HttpResponse, type IdentityBed, ISSUER, startIdentity } from "./bed.ts";

const real = services().postgres.real;
async function start(laneWaitingMax?: number): Promise<IdentityBed> {
  const identity = await startIdentity({ laneWaitingMax });
  atTestEnd(() => identity.close());
  return identity;
}

/** Locks all rows of an organization until `release` is called, like the deletion of a large organization. */
async function lockOrganization(identity: IdentityBed, id: string) {
  const lock = await heldTransaction(identity.database, async (tx) => {
    for (const table of ["members", "service_accounts", "invites"]) {
      await tx.execute(`select 1 from identity.${table} where organization_id = '${id}' for update`);
    }
    await tx.execute(`select 1 from identity.organizations where id = '${id}' for update`);
    await tx.execute(`select 1 from identity.api_keys where member_id in
      (select id from identity.members where organization_id = '${id}') for update`);
  });
  atTestEnd(lock.commit);
  return {
    release: lock.commit,
    /** Returns the number of database connections that wait for a lock. */
    waiting: async () =>
      (
        await identity.sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      ).length,
  };
}

const TIMES = 3;

/** Returns every kind of write in an organization: its expected status, and a function that sends it. */
async function writesIn(identity: IdentityBed, id: string) {
  const { call } = identity;
  const at = `/organizations/${id}`;
  const created = async (path: string, body: object = {}) => (await call("POST", path, body)).body;
  const members = await Promise.all(Array.from({ length: 4 * TIMES + 1 }, () => identity.member(id)));
  const people = await Promise.all(Array.from({ length: TIMES }, () => identity.person()));
  const accounts: string[] = [];
  for (let n = 0; n <= TIMES; n++) {
    accounts.push((await created(`${at}/service-accounts`, { name: "Bot" })).id);
  }
  const account = accounts.pop();
  const member = members.pop()?.id;
  const take = (from: { id: string }[]) => from.pop()?.id;
  const memberKey = await created(`/members/${member}/api-keys`);
  const accountKey = await created(`${at}/service-accounts/${account}/api-keys`);
  const { token } = await created(`${at}/invites`, { max_uses: null });
  const { id: invite } = await created(`${at}/invites`);
  const subject = () => ({ idp: { issuer: ISSUER, subject: crypto.randomUUID() } });
  const { user_id } = await identity.member(id);
  const writes: Record<string, [status: number, () => Promise<HttpResponse>]> = {
    rename: [200, () => call("PATCH", at, { name: crypto.randomUUID() })],
    "add a member": [201, () => call("POST", `${at}/members`, subject())],
    "change a role": [200, () => call("PATCH", `${at}/members/${member}`, { role: "admin" })],
    "change a name": [200, () => call("PATCH", `/members/${member}`, { display_name: crypto.randomUUID() })],
    "remove a member": [204, () => call("DELETE", `${at}/members/${take(members)}`)],
    leave: [204, () => call("DELETE", `/members/${take(members)}`)],
    "delete an account": [204, () => call("DELETE", `/users/${members.pop()?.user_id}`)],
    invite: [201, () => call("POST", `${at}/invites`, {})],
    "revoke an invite": [204, () => call("DELETE", `${at}/invites/${invite}`)],
    redeem: [201, () => call("POST", `/users/${people.pop()}/invites/redeem`, { token })],
    "mint a session": [201, () => call("POST", `/users/${user_id}/organizations/${id}/session`, {})],
    "make a member's key": [201, () => call("POST", `/members/${member}/api-keys`, {})],
    "revoke a member's key": [204, () => call("DELETE", `/members/${member}/api-keys/${memberKey.id}`)],
    "create a service account": [201, () => call("POST", `${at}/service-accounts`, { name: "Bot" })],
    "rename a service account": [
      200,
      () => call("PATCH", `${at}/service-accounts/${account}`, { name: crypto.randomUUID() }),
    ],
    "remove a service account": [204, () => call("DELETE", `${at}/service-accounts/${accounts.pop()}`)],
    "make a service account's key": [
      201,
      () => call("POST", `${at}/service-accounts/${account}/api-keys`, {}),
    ],
    "revoke a service account's key": [
      204,
      () => call("DELETE", `${at}/service-accounts/${account}/api-keys/${accountKey.id}`),
    ],
  };
  return writes;
}

/** Returns a function that sends the requests of another tenant, and expects that they succeed. */
async function othersOf(identity: IdentityBed) {
  const { call } = identity;
  const { id, owner, ownerMember } = await identity.organization("Other");
  const { key } = (await call("POST", `/members/${ownerMember}/api-keys`)).body;
  const { token: session } = (await call("POST", `/users/${owner}/organizations/${id}/session`)).body;
  const subject = crypto.randomUUID();
  await identity.person(subject);
  const validSubject = (name: string) =>
    identity.internal("POST", "/internal/credentials/validate", { idp: { issuer: ISSUER, subject: name } });
  return async () => {
    for (const credential of [key, session]) {
      expect(await identity.validate(credential)).toMatchObject({ valid: true });
    }
    for (const name of [subject, crypto.randomUUID()]) {
      expect((await validSubject(name)).body).toMatchObject({ valid: true });
    }
    const responses = await Promise.all([
      call("GET", `/organizations/${id}/members`),
      call("PATCH", `/organizations/${id}`, { name: crypto.randomUUID() }),
      call("POST", `/organizations/${id}/members`, { idp: { issuer: ISSUER, subject: crypto.randomUUID() } }),
      call("POST", `/organizations/${id}/invites`),
      call("POST", `/members/${ownerMember}/api-keys`),
      call("POST", `/users/${owner}/organizations`, { name: "New" }),
      call("POST", `/users/${owner}/organizations/${id}/session`),
      call("PATCH", `/users/${owner}`, { display_name: crypto.randomUUID() }),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 201, 201, 201, 201, 201, 200]);
  };
}

describe.skipIf(!real)("while all writers of one organization wait for its rows", () => {
  // ID-91, ID-104
  test("other tenants and its own reads are served, and all its writes succeed in the end", async () => {
    const identity = await start();
    const { id } = await identity.organization();
    const writes = await writesIn(identity, id);
    const others = await othersOf(identity);
    const lock = await lockOrganization(identity, id);
    const responses: HttpResponse[] = [];
    const underWay = Object.values(writes).flatMap(([status, write]) =>
      Array.from({ length: TIMES }, async () => {
        const response = await write();
        responses.push(response);
        return {
          expected: status,
          status: response.status,
          text: response.status === status ? "" : response.text,
        };
      }),
    );
    // Two writers of the organization and two deletions of accounts wait for locks. All other writers are
    // queued.
    await waitFor(async () => (await lock.waiting()) === 4);
    for (let time = 0; time < 3; time++) await others();
    expect((await identity.call("GET", `/organizations/${id}/members`)).status).toBe(200);
    expect((await identity.internal("GET", "/health/ready")).status).toBe(200);
    expect(await lock.waiting()).toBe(4);
    expect(responses).toEqual([]);
    lock.release();
    for (const { expected, status, text } of await Promise.all(underWay)) {
      expect({ status, text }).toEqual({ status: expected, text });
    }
  }, 60_000);

  // ID-104
  test("writes beyond the queue's limit are 503 with Retry-After at once, and write nothing", async () => {
    const identity = await start(10);
    const { id } = await identity.organization();
    const lock = await lockOrganization(identity, id);
    let unavailable = 0;
    const underWay = Array.from({ length: 50 }, async () => {
      const response = await identity.call("POST", `/organizations/${id}/service-accounts`, { name: "Bot" });
      if (response.status === 503) unavailable += 1;
      return response;
    });
    // Of 50 writes, two wait for the lock in the database and ten are queued. The service refuses the other
    // 38.
    await waitFor(() => unavailable === 38);
    await waitFor(async () => (await lock.waiting()) === 2);
    lock.release();
    const responses = await Promise.all(underWay);
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(12);
    for (const { status, headers, body } of responses) {
      if (status === 201) continue;
      expect({ status, retry_after: headers.get("retry-after") }).toEqual({ status: 503, retry_after: "1" });
      expect(body.error).toMatchObject({ type: "api_error", code: "SERVICE_UNAVAILABLE", details: null });
    }
    const listed = await identity.call("GET", `/organizations/${id}/service-accounts?limit=100`);
    expect(listed.body.service_accounts).toHaveLength(12);
  });
});
