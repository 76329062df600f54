import { expect, test } from "bun:test";
import { expirySweeper } from "../../../apps/identity/expiry-sweeper.ts";
import { waitFor } from "../../support/index.ts";
import { useIdentity } from "./bed.ts";

const identity = useIdentity();

/** Starts the background work that removes what has expired. */
function sweep() {
  const sweeper = expirySweeper(identity.deps, { debug() {}, info() {}, warn() {}, error() {} });
  sweeper.start();
  return sweeper;
}

// ID-41
test("an overdue invite that nobody reads loses token and address in the background, and others keep them", async () => {
  const { id } = await identity.organization();
  const create = async (expires_in_seconds: number) =>
    (
      await identity.call("POST", `/organizations/${id}/invites`, {
        email: "a@b.example",
        expires_in_seconds,
      })
    ).body;
  const [overdue, active] = [await create(60), await create(61)];
  const stored = async (invite: { id: string }) =>
    (
      await identity.sql`select status, email, token is null as bare, token_hash <> '' as hashed
        from identity.invites where id = ${invite.id}`
    )[0];
  identity.clock.advance(60_000);
  const sweeper = sweep();
  await waitFor(async () => (await stored(overdue))?.status === "expired");
  await sweeper.stop();
  expect(await stored(overdue)).toEqual({ status: "expired", email: null, bare: true, hashed: true });
  expect(await stored(active)).toMatchObject({ status: "active", email: "a@b.example", bare: false });
});

// ID-69
test("expired sessions are deleted in the background every ten minutes, and valid ones are kept", async () => {
  const { id, owner, ownerMember } = await identity.organization();
  const now = identity.clock.date().toISOString();
  const addExpired = (count: number) =>
    identity.sql`insert into identity.sessions (hash, member_id, created_at, expires_at)
      select 'expired' || number, ${ownerMember}, ${now}::timestamptz, ${now}::timestamptz
      from generate_series(1, ${count}::integer) number`;
  const count = async () =>
    (await identity.sql`select count(*) as left from identity.sessions where hash like 'expired%'`)[0]?.left;
  await addExpired(2500);
  const { token } = (await identity.call("POST", `/users/${owner}/organizations/${id}/session`)).body;
  const sweeper = sweep();
  await waitFor(async () => (await count()) === 0);
  await waitFor(() => identity.clock.waiting().length > 0);
  await addExpired(1);
  identity.clock.advance(10 * 60 * 1000 - 1);
  expect(await count()).toBe(1);
  identity.clock.advance(1);
  await waitFor(async () => (await count()) === 0);
  await sweeper.stop();
  expect(await identity.validate(token)).toMatchObject({ valid: true });
});
