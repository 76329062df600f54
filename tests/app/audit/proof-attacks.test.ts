import { describe, expect, test } from "bun:test";
import { readKept } from "@ostiary/cli/verify/files";
import {
  entryHash,
  hexOf,
  intentEntry,
  nextInChain,
  outcomeEntry,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import type { EnglishVerdict } from "@ostiary/lib/verification";
import { ulid } from "ulid";
import { freshDatabase, services, waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import { intent, json, logOf, requestId, sqlOn } from "./audit-service.ts";
import {
  cloned,
  exportProof,
  exportText,
  keysOf,
  NOTHING_KEPT,
  sharedProvenLog,
  startProvenAudit,
  verify,
  writeEvents,
  writeKeyFile,
  writeSigningKey,
} from "./proof-bed.ts";

// AU-65
describe.skipIf(!services().postgres.real)("when the owner of the tables, with triggers off,", () => {
  const proven = sharedProvenLog();
  const { audit, tamper } = proven;

  let count = 0;
  /** Returns a log of five sealed events. `ids` lists the events from the oldest to the newest. */
  async function sealedLog() {
    count += 1;
    const owner = `attacked-${count}`;
    const path = logOf(owner);
    await writeEvents(audit, 5, { organization_id: owner });
    const before = await exportProof(audit, path);
    expect(await verify(before.text, proven.keys)).toMatchObject({ complete: true, events: 5 });
    const ids = before.events.map(({ id }) => id).toReversed();
    return { owner, path, ids, before };
  }

  /**
   * Runs an attack on a new log, and returns the verifier's verdict. In the statement, `$1` to `$5` are the
   * ids of the five events.
   */
  async function attacked(
    statement: string,
    kept = NOTHING_KEPT,
  ): Promise<{ verdict: EnglishVerdict; ids: string[] }> {
    const { owner, path, ids } = await sealedLog();
    const filled = statement
      .replace(/\$(\d)/g, (_, n) => `'${ids[n - 1]}'`)
      .replaceAll("$OWNER", `'organization:${owner}'`);
    await tamper(filled);
    return { verdict: await verify((await exportProof(audit, path)).text, proven.keys, kept), ids };
  }

  test.each([
    [
      "a value in details",
      `update audit.audit_events set details = '{"name":{"from":"a 1","to":"b 2"},"nested":[{"deep":null}]}' where id = $2`,
    ],
    [
      "a null in details",
      `update audit.audit_events set details = '{"name":{"from":"a 1","to":"b 1"},"nested":[{}]}' where id = $2`,
    ],
    ["the details as a whole", "update audit.audit_events set details = null where id = $2"],
    ["a status", "update audit.audit_events set status = 204 where id = $2"],
    [
      "a time, by a millisecond",
      "update audit.audit_events set occurred_at = occurred_at + interval '1 millisecond' where id = $2",
    ],
    ["a text, by a space", "update audit.audit_events set user_agent = user_agent || ' ' where id = $2"],
    ["a param", `update audit.audit_events set params = '{"widget_id":"widget-2"}' where id = $2`],
    ["who did it", "update audit.audit_events set actor_member_id = 'member-2' where id = $2"],
    ["what was created", "update audit.audit_events set created_id = 'created-2' where id = $2"],
    ["the salt", "update audit.audit_events set intent_salt = audit.random_salt() where id = $2"],
    ["how it ended", "update audit.audit_events set outcome = 'no_response' where id = $2"],
  ])("changes %s, the event is named", async (_, statement) => {
    const { verdict, ids } = await attacked(statement);
    expect(verdict).toMatchObject({ complete: false, faults_total: 1 });
    expect(verdict.faults[0]).toMatchObject({ kind: "changed", event_id: ids[1] ?? "" });
  });

  test.each([
    ["first", 1, "$1"],
    ["middle", 3, "$3"],
    ["last", 5, "$5"],
  ])("removes the %s event, its position is named", async (_, n, id) => {
    for (const entries of ["", `; delete from audit.entries where event_id = ${id}`]) {
      const { verdict, ids } = await attacked(`delete from audit.audit_events where id = ${id}${entries}`);
      expect(verdict.faults[0]).toMatchObject({ kind: "removed", position: 2 * n - 1 });
      expect(verdict.faults[0]?.event_id).toBe(ids[n === 5 ? 3 : n] ?? "");
    }
  });

  const COPIED =
    "occurred_at, organization_id, user_id, actor_member_id, actor_auth_type, actor_key_prefix, service, method, route, params, ip, user_agent, outcome, status, details, created_id";
  const copy = (more: string) => `insert into audit.audit_events (id, request_id, ${COPIED}${more})
    select left(id, 25) || (case right(id, 1) when 'Z' then 'Y' else 'Z' end), request_id || '-x', ${COPIED}${more}
    from audit.audit_events where id = $3`;

  test.each([
    ["without the columns that only the service sets", copy("")],
    ["with all columns of another event", copy(", intent_xid, intent_salt, outcome_xid, outcome_salt")],
  ])("adds an event %s, it is named", async (_, statement) => {
    const { verdict } = await attacked(statement);
    expect(verdict.faults[0]).toMatchObject({ kind: "added" });
    expect(verdict.faults[0]?.message).toContain("was added");
  });

  test("adds a two-hour-old event to every table, it is named once it is sealed", async () => {
    const { path, ids } = await sealedLog();
    const [event] = await sqlOn(proven.log)<{ id: string }>`
      with made as (
        insert into audit.audit_events (id, request_id, occurred_at, organization_id, actor_auth_type, service,
        method, route, params, ip)
        select ${ulid(Date.now() - 2 * 3_600_000)}, ${`${ids[2]}-old`}, occurred_at - interval '2 hours', organization_id, actor_auth_type,
        service, method, route, params, ip
        from audit.audit_events where id = ${ids[2]}
        returning id, request_id, occurred_at
        )
        insert into audit.request_ids (id, request_id, occurred_at) select id, request_id, occurred_at from made
        returning id`;
    const verdict = await verify((await exportProof(audit, path)).text, proven.keys);
    expect(verdict.faults[0]).toMatchObject({ kind: "added", event_id: event?.id });
  });

  test("moves events, both are named", async () => {
    const swap = (column: string) =>
      `update audit.audit_events set ${column} = case id when $2 then $3 else $2 end where id in ($2, $3)`;
    const places = `create temp table held on commit drop as
        select position, chain, event_id from audit.entries where event_id in ($2, $3) and not is_outcome;
      delete from audit.entries where event_id in ($2, $3) and not is_outcome;
      insert into audit.entries (chain_id, position, occurred_at, event_id, is_outcome, chain)
        select (select id from audit.chains where owner = $OWNER), position, now(),
          case event_id when $2 then $3 else $2 end, false, chain from held`;
    for (const statement of [swap("id"), places]) {
      const { verdict, ids } = await attacked(statement);
      const named = verdict.faults.map(({ event_id }) => event_id);
      expect(verdict.faults[0]?.kind).toBe("changed");
      expect(new Set(named)).toEqual(new Set([ids[1] ?? "", ids[2] ?? ""]));
    }
  });

  test("swaps the outcomes of two events, both are named", async () => {
    const { verdict, ids } = await attacked(
      `update audit.audit_events a set (status, details, created_id, outcome_salt, outcome_xid) =
         (select status, details, created_id, outcome_salt, outcome_xid from audit.audit_events b
          where b.id = case a.id when $2 then $4 else $2 end)
       where a.id in ($2, $4)`,
    );
    expect(verdict.faults).toMatchObject([
      { kind: "changed", event_id: ids[1] ?? "" },
      { kind: "changed", event_id: ids[3] ?? "" },
    ]);
    expect(verdict.faults[0]?.message).toContain("outcome");
  });

  test("gives a pending event an outcome, or removes one, the event is named", async () => {
    const given = await attacked(
      "update audit.audit_events set outcome = 'responded', status = 200 where id = $5",
    );
    expect(given.verdict.faults).toMatchObject([{ kind: "added", event_id: given.ids[4] ?? "" }]);
    const taken = await attacked(
      "update audit.audit_events set outcome = 'pending', status = null, details = null, created_id = null, outcome_xid = null where id = $2",
    );
    expect(taken.verdict.faults[0]).toMatchObject({ kind: "changed", event_id: taken.ids[1] ?? "" });
  });

  /** Recomputes a chain from the current rows. Anyone can do this without the key: the format is public. */
  async function rebuild(path: string, owner: string, head: boolean): Promise<void> {
    const { events } = await exportProof(audit, path);
    const places = events
      .flatMap((event) => {
        const { intent: place, outcome } = event.proof;
        return [
          ...(place === null ? [] : [{ at: place.position, text: intentEntry(event, null, place.salt) }]),
          ...(outcome === null
            ? []
            : [{ at: outcome.position, text: outcomeEntry(event, null, outcome.salt) }]),
        ];
      })
      .toSorted((a, b) => a.at - b.at);
    let chain = ZERO_HASH;
    const statements = places.map(({ at, text }) => {
      chain = nextInChain(chain, entryHash(text));
      return `update audit.entries set chain = '\\x${hexOf(chain)}' where position = ${at}
        and chain_id = (select id from audit.chains where owner = 'organization:${owner}')`;
    });
    if (head)
      statements.push(
        `update audit.chains set chain = '\\x${hexOf(chain)}' where owner = 'organization:${owner}'`,
      );
    await tamper(statements.join(";"));
  }

  // AU-67
  test("rebuilds a chain without the key, no checkpoint contains its head, and the sealer never signs it", async () => {
    const { path, ids, owner, before } = await sealedLog();
    await tamper(`update audit.audit_events set status = 500 where id = '${ids[1]}'`);
    await rebuild(path, owner, true);
    const found = await exportProof(audit, path);
    const verdict = await verify(found.text, proven.keys);
    expect(verdict.faults).toMatchObject([{ kind: "rebuilt" }]);
    expect(verdict.faults[0]?.message).toContain(
      `Checkpoint ${before.end.checkpoint?.number} does not contain the head of this chain`,
    );
    const compared = await verify(found.text, proven.keys, { checkpoints: [], end: before.end });
    expect(compared.faults.map(({ message }) => message).join()).toContain("has been rewritten since");

    // A new event makes the sealer look at the chain, and it must still not sign the rebuilt chain.
    const other = await withOneMore(owner, path);
    expect((await verify(other.text, proven.keys)).faults[0]).toMatchObject({ kind: "rebuilt" });
    await tamper(
      `update audit.chains set chain = '\\x${before.end.head.chain}' where owner = 'organization:${owner}'`,
    );
    await waitFor(async () => (await exportProof(audit, path)).end.head.position === 10, {
      what: "the restored chain",
    });
  });

  /** Writes one more event, waits until the sealer refuses to give it a position, and returns the export. */
  async function withOneMore(owner: string, path: string) {
    await audit.put(requestId(), intent({ organization_id: owner }));
    await waitFor(async () => (await metricOf(audit, "audit_altered_logs")) > 0, {
      what: "the sealer's refusal",
    });
    return exportProof(audit, path);
  }

  test("withholds a checkpoint, the gap in the list is named", async () => {
    const list = async () => (await json(await audit.get("/audit-checkpoints"))).audit_checkpoints;
    const { path } = await sealedLog();
    for (let later = 0; later < 3; later += 1) await sealedLog();
    const all = await list();
    const found = await exportProof(audit, path);
    expect(await verify(found.text, proven.keys, { checkpoints: all, end: null })).toMatchObject({
      complete: true,
    });
    // A checkpoint from the middle is withheld from both the export and the list.
    const held = found.end.checkpoint?.number;
    const withheld = all.find(
      ({ number }: { number: number }, at: number) => at > 0 && at < all.length - 1 && number !== held,
    )?.number;
    const others = (list: typeof found.end.recent_checkpoints) =>
      list.filter(({ number }) => number !== withheld);
    const end = { ...found.end, recent_checkpoints: others(found.end.recent_checkpoints) };
    const text = exportText({ events: found.events, end });
    const verdict = await verify(text, proven.keys, { checkpoints: others(all), end: null });
    expect(verdict).toMatchObject({ result: "undecided", faults: [] });
    expect(verdict.undecided.join()).toContain(`checkpoint ${withheld} is missing`);
  });

  test("shows a checkpoint of another log, or none, the export is refused", async () => {
    await using other = await startProvenAudit();
    await writeEvents(other, 3);
    const foreign = await exportProof(other);
    const { path } = await sealedLog();
    const found = await exportProof(audit, path);
    const { checkpoint, inclusion, recent_checkpoints } = foreign.end;
    const text = exportText({
      events: found.events,
      end: { ...found.end, checkpoint, inclusion, recent_checkpoints },
    });
    const kinds = (await verify(text, proven.keys)).faults
      .map(({ kind, message }) => `${kind}: ${message}`)
      .join("\n");
    expect(kinds).toContain("rebuilt: ");
    expect(kinds).toContain("checkpoint: Checkpoint 1 is not signed by any of the given keys.");
    const none = exportText({
      events: found.events,
      end: { ...found.end, checkpoint: null, inclusion: null },
    });
    expect((await verify(none, proven.keys)).faults[0]).toMatchObject({ kind: "rebuilt" });
  });
});

describe.skipIf(!services().postgres.real)("a database that was restored", () => {
  // AU-66
  test("from an older backup is detected with a kept export, even after new events", async () => {
    const env = { AUDIT_SIGNING_KEY_FILE: writeSigningKey() };
    const databaseUrl = await freshDatabase();
    const first = await startProvenAudit({ databaseUrl, env });
    await writeEvents(first, 3);
    await exportProof(first);
    await first.stop();
    const backup = await cloned(databaseUrl);

    const second = await startProvenAudit({ databaseUrl, env });
    const keys = await keysOf(second);
    for (let n = 0; n < 3; n++) {
      await writeEvents(second, 2);
      await exportProof(second);
    }
    const kept = await exportProof(second);
    const page = writeKeyFile(await (await second.get("/audit-checkpoints?limit=1")).text());
    await second.stop();

    await using restored = await startProvenAudit({ databaseUrl: backup, env });
    const keptPage = await readKept(page);
    const now = await exportProof(restored);
    expect(await verify(now.text, keys)).toMatchObject({ complete: true });
    for (const copies of [keptPage, { checkpoints: [], end: kept.end }]) {
      const { result, undecided } = await verify(now.text, keys, copies);
      expect(result).toBe("undecided");
      expect(undecided.join()).toContain("or the log was restored from an older backup");
    }
    for (let n = 0; n < 5; n++) {
      await writeEvents(restored, 3);
      await exportProof(restored);
    }
    const later = await exportProof(restored);
    expect((await verify(later.text, keys, keptPage)).faults[0]?.message).toContain(
      "Two different checkpoints have the number",
    );
    const compared = await verify(later.text, keys, { checkpoints: [], end: kept.end });
    expect(compared.faults[0]).toMatchObject({ kind: "rebuilt" });
  });
});
