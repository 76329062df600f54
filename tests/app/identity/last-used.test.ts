import { describe, expect, test } from "bun:test";
import { lastUseWriter, storeLastUses } from "../../../apps/identity/api-keys/last-use-writer.ts";
import { services, waitFor } from "../../support/index.ts";
import { heldTransaction } from "../../support/stores/held-transaction.ts";
import { useIdentity } from "./bed.ts";

const real = services().postgres.real;
const identity = useIdentity();

interface Made {
  id: string;
  key: string;
  path: string;
}

async function newKey(body: object = {}): Promise<Made> {
  const path = `/users/${await identity.person()}/api-keys`;
  const { id, key } = (await identity.call("POST", path, body)).body;
  return { id, key, path };
}

async function lastUsed({ path, id }: Made): Promise<string | null> {
  const { keys } = (await identity.call("GET", path)).body;
  return keys.find((each: { id: string }) => each.id === id).last_used_at;
}

const iso = (timeMs: number) => new Date(timeMs).toISOString();

describe("last_used_at", () => {
  // ID-63
  test("is null until the key is validated, and then the time of the validation", async () => {
    const made = await newKey();
    await storeLastUses(identity.deps);
    expect(await lastUsed(made)).toBeNull();
    await identity.validate(made.key);
    const used = identity.clock.now();
    identity.clock.advance(1_000);
    expect(await lastUsed(made)).toBeNull();
    await storeLastUses(identity.deps);
    expect(await lastUsed(made)).toBe(iso(used));
    expect(identity.deps.lastUses.waiting).toBe(0);
  });

  // ID-63
  test("never moves back, whichever replica stores first", async () => {
    const other = await identity.restarted(null);
    for (const order of [
      [identity, other],
      [other, identity],
    ]) {
      const made = await newKey();
      const now = identity.clock.now();
      identity.deps.lastUses.note({ id: made.id, atMs: now + 5_000 });
      other.deps.lastUses.note({ id: made.id, atMs: now + 3_000 });
      for (const { deps } of order) await storeLastUses(deps);
      expect(await lastUsed(made)).toBe(iso(now + 5_000));
      expect([identity, other].map(({ deps }) => deps.lastUses.waiting)).toEqual([0, 0]);
    }
  });

  test("is stored every five seconds, and once more when the service stops", async () => {
    const [made, later] = [await newKey(), await newKey()];
    const warnings: string[] = [];
    const writer = lastUseWriter(identity.deps, { warn: (_, message) => void warnings.push(message) });
    writer.start();
    await identity.validate(made.key);
    identity.clock.advance(4_999);
    expect(await lastUsed(made)).toBeNull();
    identity.clock.advance(1);
    await waitFor(async () => (await lastUsed(made)) !== null);
    await identity.validate(later.key);
    await writer.stop();
    expect(await lastUsed(later)).toBe(iso(identity.clock.now()));
    expect(warnings).toEqual([]);
  });
});

describe.skipIf(!real)("last_used_at on a PostgreSQL server", () => {
  // ID-63
  test("of a key with a locked row is stored later, and does not delay other keys or validations", async () => {
    const [locked, free] = [await newKey(), await newKey()];
    const holder = await heldTransaction(identity.database, (tx) =>
      tx.execute(`update identity.api_keys set name = 'Held' where id = '${locked.id}'`),
    );
    for (const { key } of [locked, free]) expect(await identity.validate(key)).toMatchObject({ valid: true });
    await storeLastUses(identity.deps);
    expect([await lastUsed(locked), await lastUsed(free)]).toEqual([null, iso(identity.clock.now())]);
    expect(identity.deps.lastUses.waiting).toBe(1);
    await holder.commit();
    await storeLastUses(identity.deps);
    expect(await lastUsed(locked)).toBe(iso(identity.clock.now()));
  });

  test("is stored without deadlocks by replicas with the same keys, while keys are revoked and members removed", async () => {
    const replicas = [identity, await identity.restarted(null), await identity.restarted(null)];
    const { id } = await identity.organization();
    const owners = await Promise.all(Array.from({ length: 6 }, () => identity.member(id)));
    const made = await Promise.all(
      owners.flatMap(({ id: member }) =>
        Array.from({ length: 15 }, async () => {
          const path = `/members/${member}/api-keys`;
          return { path, id: String((await identity.call("POST", path)).body.id) };
        }),
      ),
    );
    const shuffled = () => made.toSorted(() => Math.random() - 0.5);
    const deadlocks = async () =>
      identity.sql`select deadlocks from pg_stat_database where datname = current_database()`;
    const before = await deadlocks();
    for (let round = 1; round <= 4; round++) {
      const atMs = identity.clock.now() + round;
      for (const { deps } of replicas) for (const key of shuffled()) deps.lastUses.note({ id: key.id, atMs });
      await Promise.all([
        ...replicas.map(({ deps }) => storeLastUses(deps)),
        ...made.slice(round * 10, round * 10 + 10).map(async (key) => {
          const { status } = await identity.call("DELETE", `${key.path}/${key.id}`);
          expect([204, 404]).toContain(status);
        }),
        ...owners.slice(round - 1, round).map(async (member) => {
          expect((await identity.call("DELETE", `/members/${member.id}`)).status).toBe(204);
        }),
      ]);
    }
    for (const { deps } of replicas) await storeLastUses(deps);
    expect(replicas.map(({ deps }) => deps.lastUses.waiting)).toEqual([0, 0, 0]);
    const stored = await identity.sql`select distinct last_used_at from identity.api_keys where member_id in (
        select id from identity.members where organization_id = ${id})`;
    expect(stored).toHaveLength(1);
    expect(await deadlocks()).toEqual(before);
  });
});
