/**
 * Tests invariants under concurrent calls (ID-101 to ID-103). They need a PostgreSQL server: an embedded
 * database runs one statement at a time.
 */
import { describe, expect, test } from "bun:test";
import { services } from "../../support/index.ts";
import { type HttpResponse, ISSUER, useIdentity } from "./bed.ts";

const statuses = (responses: HttpResponse[]) =>
  responses.reduce<Record<number, number>>((counts, { status }) => {
    counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }, {});

describe.skipIf(!services().postgres.real)("under concurrency", () => {
  const identity = useIdentity({ poolMax: 40 });

  async function members(organization_id: string): Promise<{ id: string; role: string; status: string }[]> {
    const { body } = await identity.call("GET", `/organizations/${organization_id}/members?limit=100`);
    return body.members;
  }

  // ID-37, ID-101
  test("if the last two holders of creator_role demote each other, one keeps it", async () => {
    for (let round = 0; round < 4; round++) {
      const { id, ownerMember } = await identity.organization();
      const other = await identity.member(id, "owner");
      const responses = await Promise.all(
        [ownerMember, other.id].map((member) =>
          identity.call("PATCH", `/organizations/${id}/members/${member}`, { role: "member" }),
        ),
      );
      expect(statuses(responses)).toEqual({ 200: 1, 422: 1 });
      expect((await members(id)).filter(({ role }) => role === "owner")).toHaveLength(1);
    }
  });

  // ID-36, ID-101
  test("if all members leave at once, under both paths, one holder of creator_role stays", async () => {
    for (let round = 0; round < 3; round++) {
      const { id, ownerMember } = await identity.organization();
      const others = await Promise.all(
        Array.from({ length: 19 }, (_, index) => identity.member(id, index % 2 === 0 ? "owner" : "member")),
      );
      const ids = [ownerMember, ...others.map((member) => member.id)];
      const responses = await Promise.all(
        ids.map((member, index) =>
          identity.call(
            "DELETE",
            index % 2 === 0 ? `/members/${member}` : `/organizations/${id}/members/${member}`,
          ),
        ),
      );
      expect(statuses(responses)).toEqual({ 204: 19, 422: 1 });
      const left = await members(id);
      expect(left.map(({ role }) => role)).toEqual(["owner"]);
    }
  });

  // ID-46
  test("if 100 people redeem an invite at once, max_uses of them succeed", async () => {
    for (const max_uses of [1, 7]) {
      const { id } = await identity.organization();
      const invite = await identity.call("POST", `/organizations/${id}/invites`, { max_uses });
      const people = await Promise.all(Array.from({ length: 100 }, () => identity.person()));
      const responses = await Promise.all(
        people.map((person) =>
          identity.call("POST", `/users/${person}/invites/redeem`, { token: invite.body.token }),
        ),
      );
      expect(statuses(responses)).toEqual({ 201: max_uses, 409: 100 - max_uses });
      expect(await members(id)).toHaveLength(max_uses + 1);
      const listed = await identity.call("GET", `/organizations/${id}/invites`);
      expect(listed.body.invites[0]).toMatchObject({ status: "redeemed", use_count: max_uses });
    }
  });

  // ID-102
  test("if a person is removed and added at once, the person is never a member twice", async () => {
    const { id } = await identity.organization();
    const subject = crypto.randomUUID();
    const add = () =>
      identity.call("POST", `/organizations/${id}/members`, { idp: { issuer: ISSUER, subject } });
    const invite = await identity.call("POST", `/organizations/${id}/invites`, { max_uses: null });
    const person = await identity.person(subject);
    const redeem = () =>
      identity.call("POST", `/users/${person}/invites/redeem`, { token: invite.body.token });
    let current = String((await add()).body.id);
    for (let round = 0; round < 4; round++) {
      const responses = await Promise.all([
        identity.call("DELETE", `/members/${current}`),
        ...Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? add() : redeem())),
      ]);
      for (const { status } of responses) expect([200, 201, 204, 409]).toContain(status);
      const others = (await members(id)).slice(1);
      expect(others.length).toBeLessThanOrEqual(1);
      current = others[0]?.id ?? String((await add()).body.id);
    }
    const mine = (await identity.events()).filter(({ data }) => data.user_id === person);
    expect(mine.map(({ type }) => type)).toEqual(
      mine.map((_, index) => (index % 2 === 0 ? "member.created" : "member.removed")),
    );
  });

  // ID-102
  test("if a new subject is validated and added 100 times at once, one person is created", async () => {
    for (let round = 0; round < 2; round++) {
      const subject = crypto.randomUUID();
      const organizations = await Promise.all(Array.from({ length: 10 }, () => identity.organization()));
      const people = await Promise.all([
        ...Array.from({ length: 90 }, () => identity.person(subject)),
        ...organizations.map(async ({ id }) => {
          const added = await identity.call("POST", `/organizations/${id}/members`, {
            idp: { issuer: ISSUER, subject },
          });
          const found = await identity.call("GET", `/members/${added.body.id}/user`);
          return String(found.body.user_id);
        }),
      ]);
      expect(new Set(people).size).toBe(1);
    }
  });

  // ID-21, ID-101
  test("if a person is deleted while others leave, no organization loses its last member", async () => {
    for (let round = 0; round < 3; round++) {
      const organizations = await Promise.all(Array.from({ length: 4 }, () => identity.organization()));
      const subject = crypto.randomUUID();
      const person = await identity.person(subject);
      for (const { id } of organizations) {
        const idp = { issuer: ISSUER, subject };
        await identity.call("POST", `/organizations/${id}/members`, { idp, role: "owner" });
      }
      const [deleted, ...left] = await Promise.all([
        identity.call("DELETE", `/users/${person}`),
        ...organizations.map(({ ownerMember }) => identity.call("DELETE", `/members/${ownerMember}`)),
      ]);
      for (const { status } of left) expect([204, 422]).toContain(status);
      if (deleted?.status === 204) {
        for (const { id } of organizations) {
          const [one, ...more] = await members(id);
          expect(one?.role).toBe("owner");
          expect(more).toEqual([]);
        }
      } else {
        expect(deleted?.body.error.code).toBe("ORGANIZATION_HANDOFF_REQUIRED");
        expect(deleted?.body.error.details.organizations.length).toBeGreaterThan(0);
      }
    }
  });

  // ID-103
  test("if a member is removed while keys and sessions are created, none of them is valid afterwards", async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await identity.organization();
      const { id: member, user_id } = await identity.member(id);
      const [removed, ...made] = await Promise.all([
        identity.call("DELETE", `/members/${member}`),
        ...Array.from({ length: 20 }, (_, index) =>
          index % 2 === 0
            ? identity.call("POST", `/members/${member}/api-keys`)
            : identity.call("POST", `/users/${user_id}/organizations/${id}/session`),
        ),
      ]);
      expect(removed?.status).toBe(204);
      for (const response of made) {
        expect([201, 404]).toContain(response.status);
        if (response.status !== 201) continue;
        expect(await identity.validate(response.body.key ?? response.body.token)).toEqual({ valid: false });
      }
      const left =
        await identity.sql`select (select count(*) from identity.sessions where member_id = ${member}) as sessions,
                (select count(*) from identity.api_keys where member_id = ${member} and revoked_at is null) as keys`;
      expect(left).toEqual([{ sessions: 0, keys: 0 }]);
    }
  });

  test("if an organization is deleted amid other calls, they succeed or fail cleanly, and nothing is left", async () => {
    for (let round = 0; round < 3; round++) {
      const { id, owner, ownerMember } = await identity.organization();
      const invite = await identity.call("POST", `/organizations/${id}/invites`, { max_uses: null });
      const people = await Promise.all(Array.from({ length: 5 }, () => identity.person()));
      const responses = await Promise.all([
        ...people.map((person) =>
          identity.call("POST", `/users/${person}/invites/redeem`, { token: invite.body.token }),
        ),
        identity.call("DELETE", `/organizations/${id}`),
        ...people.map(() => identity.call("POST", `/members/${ownerMember}/api-keys`)),
        ...people.map(() => identity.call("POST", `/users/${owner}/organizations/${id}/session`)),
        ...people.map(() => identity.call("POST", `/organizations/${id}/service-accounts`, { name: "Bot" })),
        ...people.map(() => identity.call("POST", `/organizations/${id}/invites`)),
        identity.call("DELETE", `/users/${owner}`),
      ]);
      for (const { status } of responses) expect([201, 204, 404, 409]).toContain(status);
      const left = await identity.sql`select id from identity.members where organization_id = ${id}
            union all select id from identity.invites where organization_id = ${id}
            union all select id from identity.service_accounts where organization_id = ${id}`;
      expect(left).toEqual([]);
      const types = (await identity.events())
        .filter(({ organization_id }) => organization_id === id)
        .map(({ type }) => type);
      expect(types.at(-1)).toBe("organization.deleted");
      expect(types.filter((type) => type === "organization.deleted")).toHaveLength(1);
    }
  });
});
