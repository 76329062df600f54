import { describe, expect, test } from "bun:test";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import { readChanges } from "../../../apps/identity/admission-changes/admission-change-sql.ts";
import { type Cursor, readCursor, writeCursor } from "../../../apps/identity/admission-changes/cursor.ts";
import { expirySweeper } from "../../../apps/identity/expiry-sweeper.ts";
import { services, waitFor } from "../../support/index.ts";
import { heldTransaction } from "../../support/stores/held-transaction.ts";
import { useIdentity, wrongFields } from "./bed.ts";

const identity = useIdentity({ poolMax: 30 });
const real = services().postgres.real;

type Query = Readonly<Record<string, string | number>>;

async function read(query: Query = {}) {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return identity.internal("GET", `/internal/admission-changes?${search}`);
}

async function cursor(): Promise<string> {
  return (await read()).body.next;
}

/** Returns the changes after a cursor, in pages of `limit`. */
async function changesAfter(after: string, limit = 1_000): Promise<object[]> {
  const { body } = await read({ after, limit });
  if (body.changes.length < limit) return body.changes;
  return [...body.changes, ...(await changesAfter(body.next, limit))];
}

const calls = {
  patch: (path: string, body: object) => identity.call("PATCH", path, body),
  post: (path: string, body: object = {}) => identity.call("POST", path, body),
  remove: (path: string) => identity.call("DELETE", path),
};

/** Lets the sweeper run once. */
async function sweep(): Promise<void> {
  const sweeper = expirySweeper(identity.deps, { debug() {}, info() {}, warn() {}, error() {} });
  const pauses = () => identity.clock.waiting().filter((ms) => ms === 600_000).length;
  const before = pauses();
  sweeper.start();
  await waitFor(() => pauses() > before);
  await sweeper.stop();
}

/** Makes all changes, and what the sweeper has recorded, three hours older. */
async function haveAged(): Promise<void> {
  await identity.sql`update identity.admission_changes set recorded_at = recorded_at - interval '3 hours'`;
  await identity.sql`update identity.ended_transactions set seen_at = seen_at - interval '3 hours'`;
}

async function newKey(owner: string): Promise<{ path: string; key: string }> {
  const { id, key } = (await calls.post(`${owner}/api-keys`, { name: "key" })).body;
  return { path: `${owner}/api-keys/${id}`, key };
}

/** Runs an update in a transaction that stays open until `commit`. */
const heldUpdate = (update: string) => heldTransaction(identity.database, (tx) => tx.execute(update));

// ID-116, ID-117, ID-118
describe("changes of admissions", () => {
  test("name the owner of a key that is revoked or rotated", async () => {
    const { id } = await identity.organization();
    const member = await identity.member(id);
    const keys = [await newKey(`/users/${member.user_id}`), await newKey(`/members/${member.id}`)];
    const rotated = await newKey(`/members/${member.id}`);
    const after = await cursor();
    for (const { path } of keys) expect((await calls.remove(path)).status).toBe(204);
    await calls.post(`${rotated.path}/rotate`, { overlap_seconds: 60 });
    expect(await changesAfter(after)).toEqual([
      { user_id: member.user_id, readmits: false },
      { member_id: member.id, readmits: false },
      { member_id: member.id, readmits: false },
    ]);
  });

  test("name a member whose status or role changes, and say whether credentials are accepted again", async () => {
    const { id } = await identity.organization();
    const member = await identity.member(id);
    const path = `/organizations/${id}/members/${member.id}`;
    const after = await cursor();
    for (const change of [
      { status: "suspended" },
      { status: "active" },
      { role: "viewer" },
      { display_name: "A" },
    ]) {
      expect((await calls.patch(path, change)).status).toBe(200);
    }
    await calls.remove(path);
    const changes = await changesAfter(after);
    expect(changes).toEqual(
      [false, true, false, false].map((readmits) => ({ member_id: member.id, readmits })),
    );
  });

  test("say that refused tokens may be accepted when a suspended person is deleted", async () => {
    const user_id = await identity.person();
    await calls.patch(`/users/${user_id}/status`, { status: "suspended" });
    const after = await cursor();
    await calls.remove(`/users/${user_id}`);
    expect(await changesAfter(after)).toEqual([{ user_id, readmits: true }]);
  });

  test("name a person with each membership, and an organization with a new plan or without members", async () => {
    const { id } = await identity.organization();
    const person = await identity.member(id);
    const after = await cursor();
    await calls.patch(`/users/${person.user_id}/status`, { status: "suspended" });
    await calls.patch(`/users/${person.user_id}/status`, { status: "active" });
    await calls.patch(`/organizations/${id}/plan`, { plan: "gold" });
    await calls.patch(`/organizations/${id}`, { name: "New name" });
    await calls.remove(`/users/${person.user_id}`);
    await calls.remove(`/organizations/${id}`);
    const { user_id, id: member_id } = person;
    expect(await changesAfter(after)).toEqual([
      { user_id, readmits: false },
      { member_id, readmits: false },
      { user_id, readmits: true },
      { member_id, readmits: true },
      { organization_id: id, readmits: false },
      { member_id, readmits: false },
      { user_id, readmits: false },
      { organization_id: id, readmits: false },
    ]);
  });

  test("come in pages, also when more changes commit between two pages", async () => {
    const { id } = await identity.organization();
    const member = await identity.member(id);
    const path = `/organizations/${id}/members/${member.id}`;
    const roles = ["viewer", "admin", "member"];
    const after = await cursor();
    for (const role of roles) await calls.patch(path, { role });
    const first = await read({ after, limit: 2 });
    await calls.patch(path, { status: "suspended" });
    const second = await read({ after: first.body.next, limit: 2 });
    const third = await read({ after: second.body.next, limit: 2 });
    expect([first, second, third].map(({ body }) => body.changes.length)).toEqual([2, 1, 1]);
    expect((await read({ after: third.body.next })).body.changes).toEqual([]);
  });

  test("are waited for, but not without a cursor", async () => {
    const { id } = await identity.organization();
    const member = await identity.member(id);
    expect((await read({ wait_ms: 30_000 })).body.changes).toEqual([]);
    const waiting = read({ after: await cursor(), wait_ms: 30_000 });
    await waitFor(() => identity.clock.waiting().includes(500));
    await calls.patch(`/organizations/${id}/members/${member.id}`, { role: "viewer" });
    identity.clock.advance(500);
    expect((await waiting).body.changes).toEqual([{ member_id: member.id, readmits: false }]);
    const idle = read({ after: await cursor(), wait_ms: 700 });
    await waitFor(() => identity.clock.waiting().includes(500));
    identity.clock.advance(500);
    await waitFor(() => identity.clock.waiting().includes(200));
    identity.clock.advance(200);
    expect((await idle).body).toMatchObject({ changes: [] });
  });

  test("are a reset for a cursor that is old, ahead of the clock or the database, or of another server", async () => {
    const made = JSON.parse(Buffer.from(await cursor(), "base64url").toString());
    const [xmin, xmax] = made.seen.split(":");
    const foreign = [
      { ...made, at: made.at - 3_600_001 },
      { ...made, at: made.at + 3_700_000 },
      { ...made, server: "1.5" },
      { ...made, seen: `${xmin}:${BigInt(xmax) + 1_000_000n}:` },
    ];
    for (const each of foreign) {
      const { status, body } = await read({ after: Buffer.from(JSON.stringify(each)).toString("base64url") });
      expect({ status, ...body }).toEqual({ status: 200, reset: true, next: expect.any(String) });
      expect((await read({ after: body.next })).body.changes).toEqual([]);
    }
    expect(
      (await read({ after: Buffer.from(JSON.stringify(made)).toString("base64url") })).body.changes,
    ).toEqual([]);
  });

  test.each([10, 800, 5_000])("can be asked for although %d transactions run", async (running) => {
    const xids = Array.from({ length: running }, (_, index) => 4_000_000_000_000n + BigInt(index));
    const [xmin = 0n] = xids;
    const seen = `${xmin}:${xmin + BigInt(running)}:${xids.join()}`;
    const page = { seen: `${xmin}:${xmin + 200n}:${xids.slice(0, 200).join()}`, xid: "1", n: "1" };
    for (const cursor of [
      { server: "1", at: 1, seen },
      { server: "1", at: 1, seen, page },
    ] satisfies Cursor[]) {
      const after = writeCursor(cursor);
      expect((await read({ after })).body).toMatchObject({ reset: true });
      expect([seen, `${xmin}:${xmin}:`]).toContain(readCursor(after)?.seen ?? "no cursor");
    }
  });

  const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const made = { server: "1", at: 1, seen: "1:1:" };
  test.each([
    ["after", "%"],
    ["after", "abc"],
    ["after", cursorOf(null)],
    ["after", cursorOf({ ...made, seen: "1:1:); drop table identity.users" })],
    ...["0:1:", "2:1:", "1:3:3", "1:9:3,2", "1:99999999999999999999:", "1:9:0"].map(
      (seen): [string, string] => ["after", cursorOf({ ...made, seen })],
    ),
    ["after", cursorOf({ ...made, page: { seen: "1:1:", xid: "0", n: "1" } })],
    ["after", cursorOf({ ...made, at: -1 })],
    ["after", cursorOf({ ...made, page: {} })],
    ["after", cursorOf({ ...made, more: 1 })],
    ["wait_ms", "-1"],
    ["wait_ms", "30001"],
    ["wait_ms", "1e3"],
    ["limit", "0"],
    ["limit", "1001"],
    ["limit", "ten"],
    ["before", "1"],
  ])("a %s of %p is refused with 422", async (name, value) => {
    const response = await read({ [name]: value });
    expect(response.status).toBe(422);
    expect(wrongFields(response)).toEqual([name]);
  });

  test("in pages leave a cursor as old as before the first page, until the next poll", async () => {
    const { id } = await identity.organization();
    const after = await cursor();
    for (const plan of ["gold", "silver"]) await calls.patch(`/organizations/${id}/plan`, { plan });
    const first = (await read({ after, limit: 1 })).body.next;
    const second = (await read({ after: first })).body.next;
    const at = readCursor(after)?.at;
    expect([first, second].map((next) => readCursor(next)?.at)).toEqual([at, at]);
    expect(readCursor((await read({ after: second })).body.next)?.at).toBeGreaterThan(at ?? Number.NaN);
  });

  test("are deleted when no accepted cursor needs them", async () => {
    const { id } = await identity.organization();
    await calls.patch(`/organizations/${id}/plan`, { plan: "gold" });
    await sweep();
    await calls.patch(`/organizations/${id}/plan`, { plan: "silver" });
    await haveAged();
    await calls.patch(`/organizations/${id}/plan`, { plan: "bronze" });
    await sweep();
    const kept = await identity.sql`select recorded_at > now() - interval '1 hour' as is_new
      from identity.admission_changes order by recorded_at`;
    expect(kept.map(({ is_new }) => is_new)).toEqual([false, true]);
    for (let time = 0; time < 3; time += 1) {
      await haveAged();
      await sweep();
    }
    expect(await identity.sql`select from identity.admission_changes`).toHaveLength(0);
    expect((await identity.sql`select from identity.ended_transactions`).length).toBeLessThanOrEqual(2);
  });
});

describe.skipIf(!real)("changes of admissions of concurrent transactions", () => {
  // ID-116
  test("are all seen, although transactions commit in another order than they begin", async () => {
    const { id } = await identity.organization();
    const members = await Promise.all(Array.from({ length: 8 }, () => identity.member(id)));
    const seen = new Set<string>();
    let after = await cursor();
    const follow = async () => {
      const { body } = await read({ after, limit: 3 });
      for (const change of body.changes) seen.add(change.member_id);
      after = body.next;
    };
    const late = await heldUpdate(
      `update identity.members set role = 'viewer' where id = '${members[0]?.id}'`,
    );
    for (const member of members.slice(1)) {
      await calls.patch(`/organizations/${id}/members/${member.id}`, { role: "viewer" });
      await follow();
    }
    await waitFor(async () => {
      await follow();
      return seen.size === members.length - 1;
    });
    await late.commit();
    await follow();
    expect(seen).toEqual(new Set(members.map((member) => member.id)));
  });

  // ID-116
  test("are seen although their transaction was open for hours and the sweeper runs right after its commit", async () => {
    const { id } = await identity.organization();
    const member = await identity.member(id);
    const late = await heldUpdate(
      `update identity.members set role = 'viewer' where id = '${member.id}';
       update identity.admission_changes set recorded_at = now() - interval '3 hours' where member_id = '${member.id}'`,
    );
    await sweep();
    await haveAged();
    const after = await cursor();
    await late.commit();
    await sweep();
    expect(await changesAfter(after)).toEqual([{ member_id: member.id, readmits: false }]);
  });

  // ID-116
  test("are not read again at each poll while an old transaction stays open", async () => {
    const { id } = await identity.organization();
    const old = await heldUpdate(`update identity.organizations set plan = 'gold' where id = '${id}'`);
    await identity.sql`insert into identity.admission_changes (user_id, readmits)
      select 'u' || n, false from generate_series(1, 500) as n`;
    const known = readCursor(await cursor());
    if (known === null) throw new Error("The cursor cannot be read.");
    const { changes, fetched } = await identity.database.transaction(
      "poll",
      async (tx) => {
        const rowsFetched = async () => {
          const read = await rows<{ fetched: number }>(
            tx,
            sql`select idx_tup_fetch::int as fetched from pg_stat_xact_user_tables where relname = 'admission_changes'`,
          );
          return read[0]?.fetched ?? 0;
        };
        await tx.execute("set local enable_seqscan = off; set local enable_bitmapscan = off");
        const before = await rowsFetched();
        const { changes } = await readChanges(tx, known, 1_000);
        return { changes, fetched: (await rowsFetched()) - before };
      },
      { lane: "poll" },
    );
    expect({ changes, fetched }).toEqual({ changes: [], fetched: 0 });
    await old.commit();
    expect(await changesAfter(writeCursor(known))).toEqual([{ organization_id: id, readmits: false }]);
  });

  // ID-117
  test("name each membership of a suspended person: joining waits for the suspension", async () => {
    const { id } = await identity.organization();
    const { user_id } = await identity.member(id);
    const other = await identity.organization();
    const invite = (await calls.post(`/organizations/${other.id}/invites`)).body;
    const suspension = await heldUpdate(
      `update identity.users set status = 'suspended' where id = '${user_id}'`,
    );
    let isJoined = false;
    const joining = calls.post(`/users/${user_id}/invites/redeem`, { token: invite.token }).finally(() => {
      isJoined = true;
    });
    const waits = async () =>
      (
        await identity.sql`select from pg_stat_activity where wait_event_type = 'Lock' and query ilike '%users%'`
      ).length > 0;
    await waitFor(async () => isJoined || (await waits()));
    expect(isJoined).toBe(false);
    await suspension.commit();
    expect((await joining).status).toBe(201);
  });
});
