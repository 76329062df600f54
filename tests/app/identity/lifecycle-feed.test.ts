import { describe, expect, test } from "bun:test";
import { followingIds } from "@ostiary/lib/runtime/http";
import { services, waitFor } from "../../support/index.ts";
import {
  type IdentityBed,
  type LifecycleEvent,
  NOBODY,
  startIdentity,
  TIME,
  ULID,
  useIdentity,
  wrongFields,
} from "./bed.ts";

const real = services().postgres.real;
const identity = useIdentity({ poolMax: 30 });

function feed(query: string) {
  return identity.internal("GET", `/internal/lifecycle-events${query}`);
}

/**
 * Reads the feed like a consumer, in pages of `limit`. Stops at the end of the feed once `done` returns true.
 */
async function follow(limit: number, from: string | null, done: () => boolean): Promise<LifecycleEvent[]> {
  const seen: LifecycleEvent[] = [];
  const readsAll = async () => {
    const finished = done();
    const cursor = seen.at(-1)?.id ?? from;
    const after = cursor === null ? "" : `&starting_after=${cursor}`;
    const { body } = await feed(`?limit=${limit}${after}`);
    seen.push(...body.lifecycle_events);
    return finished && body.lifecycle_events.length === 0;
  };
  await waitFor(readsAll, { pollMs: 1, timeoutMs: 240_000, what: "the end of the feed" });
  return seen;
}

/**
 * Returns the events that are out of order: removed before created, or after the organization was deleted.
 */
function disorder(events: LifecycleEvent[]): string[] {
  const state = new Map<string, "created" | "over">();
  return events.flatMap((event) => {
    const organization = state.get(event.organization_id);
    const member = String(event.data.member_id);
    const legal = {
      "organization.created": organization === undefined,
      "organization.deleted": organization === "created",
      "member.created": organization === "created" && !state.has(member),
      "member.removed": organization === "created" && state.get(member) === "created",
    }[event.type];
    const subject = event.type.startsWith("member.") ? member : event.organization_id;
    state.set(subject, event.type.endsWith(".created") ? "created" : "over");
    return legal ? [] : [`${event.type} of ${subject}`];
  });
}

/**
 * Creates one organization in each round. Members join and leave it, and then either the organization or its
 * owner is deleted.
 */
async function write(identity: IdentityBed, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const { id, owner, ownerMember } = await identity.organization();
    const { id: member, user_id } = await identity.member(id, "owner");
    const invite = await identity.call("POST", `/organizations/${id}/invites`, { max_uses: null });
    const guest = await identity.person();
    const redemption = { token: invite.body.token };
    await Promise.all([
      identity.call("POST", `/users/${guest}/invites/redeem`, redemption),
      identity.call("POST", `/organizations/${id}/service-accounts`, { name: "Bot" }),
      identity.call("DELETE", `/members/${member}`),
    ]);
    await identity.call("POST", `/users/${user_id}/invites/redeem`, redemption);
    await Promise.all([
      identity.call("DELETE", `/users/${guest}`),
      identity.call("DELETE", `/members/${ownerMember}`),
      round % 3 === 0
        ? identity.call("DELETE", `/organizations/${id}`)
        : identity.call("DELETE", `/users/${owner}`),
    ]);
  }
}

describe.skipIf(!real)("with 8 writers at once, on two replicas whose clocks are an hour apart", () => {
  // ID-96
  test("readers get every event exactly once and in causal order, wherever they start", async () => {
    await using replica = await startIdentity({ databaseUrl: identity.databaseUrl, poolMax: 30 });
    replica.clock.advance(-3_600_000);
    await write(identity, 1);
    const before = await identity.events();
    const middle = before[Math.floor(before.length / 2)]?.id ?? null;
    let writing = true;
    const done = () => !writing;
    const readers = [
      follow(2, null, done),
      follow(7, middle, done),
      follow(500, before.at(-1)?.id ?? null, done),
    ];
    const writers = Array.from({ length: 8 }, (_, index) => write(index % 2 === 0 ? identity : replica, 1));
    await Promise.all(writers);
    writing = false;
    const [fromStart = [], fromMiddle, fromEnd] = await Promise.all(readers);

    const events = await identity.sql`select id from identity.lifecycle_events order by id`;
    const stored = events.map(({ id }) => String(id));
    expect(stored.length).toBeGreaterThan(8 * 5);
    expect(fromStart.map(({ id }) => id)).toEqual(stored);
    const after = (cursor: string | null | undefined) => stored.filter((id) => id > `${cursor}`);
    expect(fromMiddle?.map(({ id }) => id)).toEqual(after(middle));
    expect(fromEnd?.map(({ id }) => id)).toEqual(after(before.at(-1)?.id));
    expect(disorder(fromStart)).toEqual([]);
  }, 300_000);
});

describe("the lifecycle feed", () => {
  // ID-97
  test("refuses unknown cursors, invalid limits and other parameters", async () => {
    expect(wrongFields(await feed(`?starting_after=${NOBODY}`))).toEqual(["starting_after"]);
    expect(wrongFields(await feed("?starting_after=x"))).toEqual(["starting_after"]);
    expect(wrongFields(await feed("?limit=0"))).toEqual(["limit"]);
    expect(wrongFields(await feed("?type=member.created"))).toEqual(["type"]);
    expect((await feed("?limit=99999")).status).toBe(200);
  });

  // ID-92, ID-96
  test("stays in order if a clock is set back", async () => {
    await identity.organization("Ahead");
    identity.clock.advance(-86_400_000);
    await identity.organization("Behind");
    identity.clock.advance(86_400_000);
    const names = (await identity.events())
      .filter(({ type }) => type === "organization.created")
      .map(({ data }) => data.name);
    expect(names.slice(-2)).toEqual(["Ahead", "Behind"]);
    expect((await identity.events()).at(-1)).toEqual({
      id: expect.stringMatching(ULID),
      type: "member.created",
      occurred_at: expect.stringMatching(TIME),
      organization_id: expect.stringMatching(ULID),
      data: expect.any(Object),
    });
  });

  test("gives each event an id after the last one, whatever the clock says", () => {
    const last = "7ZZZZZZZZZZZZZZZZZZZZZZZZY";
    expect(followingIds("01KA4YB0Q9ZZZZZZZZZZZZZZZZ", 1, 3)).toEqual([
      "01KA4YB0QA0000000000000000",
      "01KA4YB0QA0000000000000001",
      "01KA4YB0QA0000000000000002",
    ]);
    expect(followingIds(last, 1, 1)).toEqual(["7ZZZZZZZZZZZZZZZZZZZZZZZZZ"]);
    const ids = followingIds(null, Date.now(), 1000);
    expect(ids).toEqual([...new Set(ids)].sort());
  });
});
