import { describe, expect, test } from "bun:test";
import { useIdentity } from "../../../app/identity/bed.ts";
import {
  addKeyOfEachMember,
  addManyInvites,
  addManyKeys,
  addManyMembers,
  addManyMemberships,
  addManyServiceAccounts,
  analyze,
} from "../../../app/identity/bulk.ts";
import { services } from "../../../support/index.ts";

const MANY = 100_000;

const real = services().postgres.real;
const identity = useIdentity();

/** The pause between two rounds of a caller, which leaves the processor to the deletion. */
const OTHERS_PAUSE_MS = 25;

/**
 * Runs `work` while four other callers create organizations, validate keys and delete the organizations.
 * `others` is the number of rounds that these callers finished before `work` ended.
 */
async function whileOthersWork<T>(work: () => Promise<T>): Promise<{ result: T; others: number }> {
  await analyze(identity);
  let others = 0;
  let working = true;
  const busy = Array.from({ length: 4 }, async () => {
    while (working) {
      const { id, ownerMember } = await identity.organization();
      const { key } = (await identity.call("POST", `/members/${ownerMember}/api-keys`)).body;
      expect(await identity.validate(key)).toMatchObject({ valid: true });
      expect((await identity.call("DELETE", `/organizations/${id}`)).status).toBe(204);
      if (working) others += 1;
      await Bun.sleep(OTHERS_PAUSE_MS);
    }
  });
  const result = await work();
  working = false;
  await Promise.all(busy);
  return { result, others };
}

describe.skipIf(!real)("other callers are served while", () => {
  test("an organization with 100 000 members, keys, invites and service accounts is deleted", async () => {
    const { id, ownerMember } = await identity.organization("Large");
    await addManyMembers(identity, id, "1", MANY);
    await addKeyOfEachMember(identity, "1", MANY);
    await addManyServiceAccounts(identity, id, "1", MANY);
    await addManyInvites(identity, id, "1", MANY);
    await addManyKeys(identity, { member_id: ownerMember }, "1", MANY);
    const { result, others } = await whileOthersWork(() => identity.call("DELETE", `/organizations/${id}`));
    expect(result.status).toBe(204);
    expect(others).toBeGreaterThan(10);
    expect(await identity.sql`select id from identity.members where organization_id = ${id}`).toEqual([]);
    const events = (await identity.events()).filter(({ organization_id }) => organization_id === id);
    expect(events.at(-1)?.type).toBe("organization.deleted");
    expect(events.filter(({ type }) => type === "member.removed")).toEqual([]);
  }, 300_000);

  test("a person with 100 000 keys and 10 000 memberships is deleted", async () => {
    const person = await identity.person();
    const other = await identity.person();
    await addManyKeys(identity, { user_id: person }, "3", MANY);
    await addManyMemberships(identity, { member: person, owner: other }, "3", MANY / 10);
    const before = (await identity.events()).length;
    const { result, others } = await whileOthersWork(() => identity.call("DELETE", `/users/${person}`));
    expect(result.status).toBe(204);
    expect(others).toBeGreaterThan(10);
    expect(await identity.sql`select id from identity.members where user_id = ${person}`).toEqual([]);
    expect(await identity.sql`select id from identity.api_keys where user_id = ${person}`).toEqual([]);
    const removed = (await identity.events()).slice(before).filter(({ data }) => data.user_id === person);
    expect(removed).toHaveLength(MANY / 10);
  }, 300_000);
});
