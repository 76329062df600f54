import { loadLogKeys } from "@ostiary/audit/signing-keys";
import { systemClock } from "@ostiary/lib/async";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { encodeTime } from "ulid";
import { type DroppedMonth, dropMonths } from "../../../apps/audit/proof/retention/drop-months.ts";
import { SignedRoots } from "../../../apps/audit/proof/root/signed-root.ts";
import type { PassDeps } from "../../../apps/audit/proof/seal/pass-deps.ts";
import { newMemory } from "../../../apps/audit/proof/seal/read-pass.ts";
import { sqlOn } from "./bed.ts";

/** Returns the dependencies of a process that seals an open log, such as the command `ostiary audit retention`. */
export async function passDeps(
  log: Database,
  keyFile: string | null,
  origin = "ostiary/audit-log",
): Promise<PassDeps> {
  const keys = await loadLogKeys(keyFile ?? undefined, origin);
  return {
    reads: log,
    writes: log,
    memory: newMemory(new SignedRoots(keys, origin)),
    origin,
    clock: systemClock,
    log: { error: () => {} },
    holder: "a test",
  };
}

export async function drop(log: Database, keyFile: string | null, before: string): Promise<DroppedMonth[]> {
  return Array.fromAsync(dropMonths(await passDeps(log, keyFile), before));
}

/**
 * Creates the partition of a past month. The service creates partitions only for recent and future months.
 */
export function makeMonth(log: Database, month: string): Promise<unknown> {
  return sqlOn(log)`select audit.make_partition(${month})`;
}

/**
 * Returns a statement that inserts `count` pending events. `owner` is SQL for the organization of the event with the
 * number `n`, and `params` for the params.
 */
export const insertionOf = (count: number, owner: string, params = "'{}'", id = newIds()) => `with made as (
  insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service, method,
    route, params, ip)
  select ${id}, ${id}, now(), ${owner}, 'jwt', 's', 'GET', '/', ${params}, '::'
  from generate_series(1, ${count}) n returning id, request_id, occurred_at)
insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made`;

const newIds = () => `'${encodeTime(Date.now())}' || lpad(n::text, 16, '0')`;

let count = 0;

/** Writes events at `occurred_at`, in the past. All except the last get an outcome. Returns their ids. */
export async function writePast(
  log: Database,
  owner: string,
  occurred_at: string,
  events: number,
): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < events; n++) {
    count += 1;
    const id = `${encodeTime(Date.parse(occurred_at))}${String(count).padStart(16, "0")}`;
    ids.push(id);
    await sqlOn(log)`with made as (
        insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_member_id, actor_auth_type,
          service, method, route, params, ip, user_agent)
        values (${id}, ${`past-${id}`}, ${occurred_at}, ${owner}, 'member-1', 'jwt', 's', 'GET', '/{w}',
          '{"w":"w-1"}', '::', 'test/1.0')
        returning id, request_id, occurred_at)
      insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made`;
    if (n < events - 1) await writePastOutcome(log, id, n);
  }
  return ids;
}

export function writePastOutcome(log: Database, id: string, n = 0): Promise<unknown> {
  const details = JSON.stringify({ name: { from: `a ${n}`, to: `b ${n}` }, nested: [{ deep: null }] });
  return sqlOn(log)`update audit.audit_events
    set outcome = 'responded', status = ${200 + n}::integer, details = ${details}::text::json,
      created_id = ${`created-${n}`}
    where id = ${id}`;
}
