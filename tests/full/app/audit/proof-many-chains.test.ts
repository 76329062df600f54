/** One altered chain beside some thousands: all others go on, and only its own log is refused. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { makePartitions } from "@ostiary/audit/partitions";
import { proofChunks } from "@ostiary/audit/proof";
import { sealAll } from "@ostiary/audit/proof/seal/seal-pass";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { newLog, sqlOn } from "../../../app/audit/audit-service.ts";
import { tamperWith, verifierKeyOf, verify, writeSigningKey } from "../../../app/audit/proof-bed.ts";
import { passDeps } from "../../../app/audit/retention-bed.ts";
import { services } from "../../../support/index.ts";

setDefaultTimeout(240_000);

const CHAINS = 3_000;
const ALTERED = 1_234;

/** Writes an event of each of the organizations `many-1` to `many-CHAINS`. `round` makes the ids differ. */
function writeEach(log: Database, round: number) {
  return tamperWith(
    log,
    `with made as (
      insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service,
        method, route, params, ip)
      select '01' || lpad('${round}' || lpad(n::text, 10, '0'), 24, '0'), 'many-${round}-' || n, now(), 'many-' || n,
        'jwt', 's', 'GET', '/', '{}', '::' from generate_series(1, ${CHAINS}) n
      returning id, request_id, occurred_at)
    insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made`,
  );
}

// AU-67
test.skipIf(!services().postgres.real)(
  `one altered chain beside ${CHAINS - 1} others is the only one that is left out and refused`,
  async () => {
    await using log = await newLog();
    await makePartitions(log, Date.now());
    const keyFile = writeSigningKey();
    const deps = await passDeps(log, keyFile);
    await writeEach(log, 1);
    await sealAll(deps);
    await tamperWith(
      log,
      `update audit.chains set chain = sha256('x') where owner = 'organization:many-${ALTERED}'`,
    );
    await writeEach(log, 2);
    await sealAll(deps);
    const [counted] = await sqlOn(log)<{ left_out: string; whole: number; short: number }>`
      select (select string_agg(owner, ' ') from audit.altered_chains) as left_out,
        count(*) filter (where position = 2)::int as whole, count(*) filter (where position = 1)::int as short
      from audit.chains`;
    expect(counted).toEqual({ left_out: `organization:many-${ALTERED}`, whole: CHAINS - 1, short: 1 });
    const { memory, ...given } = deps;
    const keys = await keysOf(keyFile, deps.origin);
    const exported = async (id: string) => {
      const { signal } = new AbortController();
      const log = { kind: "organization", id } as const;
      const chunks = proofChunks({ ...given, keys, waitMsMax: 0, cosigned: null }, log, null, signal);
      return (await Array.fromAsync(chunks)).join("");
    };
    for (const n of [1, ALTERED - 1, ALTERED + 1, CHAINS]) {
      const verdict = await verify(await exported(`many-${n}`), verifierKeyOf(keyFile));
      expect(verdict).toMatchObject({ result: "complete", owner: `organization:many-${n}`, events: 2 });
    }
    await expect(exported(`many-${ALTERED}`)).rejects.toThrow("not sealed yet");
  },
);

async function keysOf(keyFile: string, origin: string) {
  const { loadLogKeys } = await import("@ostiary/audit/signing-keys");
  return ((await loadLogKeys(keyFile, origin)) ?? []).map(({ key }) => key);
}
