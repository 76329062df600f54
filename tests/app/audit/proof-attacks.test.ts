import { describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  contentHash,
  eventEntryHash,
  hexOf,
  intentContent,
  monthOfTime,
  nextInChain,
  outcomeContent,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import { services } from "../../support/index.ts";
import { logOf } from "./audit-service.ts";
import {
  asKept,
  exportProof,
  found,
  type ProofExport,
  sharedProvenLog,
  verify,
  writeEvents,
} from "./proof-bed.ts";

setDefaultTimeout(60_000);

// AU-65
describe.skipIf(!services().postgres.real)("when the owner of the tables, with triggers off,", () => {
  const proven = sharedProvenLog();
  const { audit, tamper, key } = proven;

  let count = 0;
  /** Returns a log of five sealed events. `ids` lists the events from the oldest to the newest. */
  async function sealedLog() {
    count += 1;
    const owner = `attacked-${count}`;
    const path = logOf(owner);
    await writeEvents(audit, 5, { organization_id: owner });
    const before = await exportProof(audit, path);
    expect(await verify(before.text, key)).toMatchObject({ result: "complete", events: 5 });
    const ids = before.events.map(({ id }) => id).toReversed();
    return { owner, path, ids, before };
  }

  /** Runs an attack on a new log. In the statement, `$1` to `$5` are the ids of the five events. */
  async function attack(statement: string) {
    const log = await sealedLog();
    await tamper(
      statement
        .replace(/\$(\d)/g, (_, n) => `'${log.ids[n - 1]}'`)
        .replaceAll("$CHAIN", `(select id from audit.chains where owner = 'organization:${log.owner}')`),
    );
    return log;
  }

  async function attacked(statement: string) {
    const { path, ids } = await attack(statement);
    return { verdict: await verify((await exportProof(audit, path)).text, key), ids };
  }

  // AU-51, AU-52
  test.each([
    ["a value in details", `details = '{"name":{"from":"a 1","to":"b 2"},"nested":[{"deep":null}]}'`],
    ["a null in details", `details = '{"name":{"from":"a 1","to":"b 1"},"nested":[{}]}'`],
    ["the details as a whole", "details = null"],
    ["a status", "status = 204"],
    ["a time, by a millisecond", "occurred_at = occurred_at + interval '1 millisecond'"],
    ["a text, by a space", "user_agent = user_agent || ' '"],
    ["a param", `params = '{"widget_id":"widget-2"}'`],
    ["who did it", "actor_member_id = 'member-2'"],
    ["what was created", "created_id = 'created-2'"],
    ["the salt", "intent_salt = audit.random_salt()"],
    ["how it ended", "outcome = 'no_response'"],
    ["who the intent had named", "named_by_outcome = true, intent_member_id = 'member-9'"],
  ])("changes %s, the event is named", async (_, change) => {
    const { verdict, ids } = await attacked(`update audit.audit_events set ${change} where id = $2`);
    expect(verdict.result).toBe("altered");
    expect(found(verdict)[0]).toMatchObject({ event_id: ids[1] });
  });

  test.each([
    ["first", 1, "$1"],
    ["middle", 3, "$3"],
    ["last", 5, "$5"],
  ])("removes the %s event, its position is named", async (_, n, id) => {
    for (const entries of ["", `; delete from audit.entries where event_id = ${id}`]) {
      const { verdict } = await attacked(`delete from audit.audit_events where id = ${id}${entries}`);
      expect(verdict.result).toBe("altered");
      expect(found(verdict)[0]).toMatchObject({ code: "entries_missing", position: 2 * n - 1 });
    }
  });

  test("cuts the newest events off with their entries, the missing positions are named", async () => {
    const { verdict } = await attacked(`delete from audit.audit_events where id in ($4, $5);
      delete from audit.entries where event_id in ($4, $5);
      delete from audit.request_ids where id in ($4, $5);
      update audit.chains set position = 6, chain = (select chain from audit.entries
        where chain_id = chains.id and position = 6) where id = $CHAIN`);
    expect(verdict.result).toBe("altered");
    expect(found(verdict)).toContainEqual(expect.objectContaining({ code: "entries_missing", position: 7 }));
  });

  test("swaps two events or their places, both are named", async () => {
    for (const swap of [
      "update audit.audit_events set id = case id when $2 then $3 else $2 end where id in ($2, $3)",
      `update audit.audit_events a set (status, details, created_id, outcome_salt) =
         (select status, details, created_id, outcome_salt from audit.audit_events b
          where b.id = case a.id when $2 then $3 else $2 end) where a.id in ($2, $3)`,
    ]) {
      const { verdict, ids } = await attacked(swap);
      expect(verdict.result).toBe("altered");
      const named = new Set(found(verdict).map(({ event_id }) => event_id));
      expect([...named]).toEqual(expect.arrayContaining([ids[1], ids[2]]));
    }
  });

  const COPIED =
    "occurred_at, organization_id, user_id, actor_member_id, actor_auth_type, actor_key_prefix, service, method, route, params, ip, user_agent, outcome, status, details, created_id";
  const copy = (time: string, more = "") => `insert into audit.audit_events (id, request_id, ${COPIED}${more})
    select left(id, 25) || (case right(id, 1) when 'Z' then 'Y' else 'Z' end), request_id || '-x',
      ${COPIED.replace("occurred_at", time)}${more} from audit.audit_events where id = $3`;

  // AU-64
  test.each([
    ["without the columns that only the service sets", copy("occurred_at")],
    [
      "with all columns of another event",
      copy("occurred_at", ", intent_xid, intent_salt, outcome_xid, outcome_salt"),
    ],
    ["that is back-dated", copy("date_trunc('month', occurred_at)")],
    [
      "with a transaction number of the future",
      copy("occurred_at")
        .replace("insert into audit.audit_events (id,", "insert into audit.audit_events (intent_xid, id,")
        .replace("select left", "select '4000000000', left"),
    ],
    [
      "with an outcome of its own",
      "update audit.audit_events set outcome = 'responded', status = 200 where id = $5",
    ],
  ])("adds an event or an outcome %s, the export is 503 and never complete", async (_, statement) => {
    const { path } = await attack(statement);
    const answer = await audit.get(`${path}?proof=true`, { Accept: "application/x-ndjson" });
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain("not sealed yet");
  });

  test("takes an outcome away, the event is named", async () => {
    const { verdict, ids } = await attacked(
      "update audit.audit_events set outcome = 'pending', status = null, details = null, created_id = null, outcome_xid = null where id = $2",
    );
    expect(verdict.result).toBe("altered");
    expect(found(verdict)[0]).toMatchObject({ event_id: ids[1] });
  });

  /** Recomputes a chain from an export. Anyone can do this without the key: the format is public. */
  function rebuilt({ events }: ProofExport, owner: string): string[] {
    let chain = ZERO_HASH;
    const places = events
      .flatMap((event) => {
        const { intent, outcome } = event.proof;
        const month = monthOfTime(event.occurred_at);
        const first = { at: intent.position, text: intentContent(event, null, intent.salt), month };
        return outcome === null
          ? [first]
          : [first, { at: outcome.position, text: outcomeContent(event, null, outcome.salt), month }];
      })
      .toSorted((a, b) => a.at - b.at);
    const id = `(select id from audit.chains where owner = 'organization:${owner}')`;
    const statements = places.map(({ at, text, month }) => {
      chain = nextInChain(chain, eventEntryHash(contentHash(text), month));
      return `update audit.entries set chain = '\\x${hexOf(chain)}' where position = ${at} and chain_id = ${id}`;
    });
    return [...statements, `update audit.chains set chain = '\\x${hexOf(chain)}' where id = ${id}`];
  }

  // AU-142
  test("rebuilds a chain without the key, its head is not in the map, and no pass signs it", async () => {
    const { path, ids, owner } = await sealedLog();
    await tamper(`update audit.audit_events set status = 500 where id = '${ids[1]}'`);
    await tamper(rebuilt(await exportProof(audit, path), owner).join(";"));
    const verdict = await verify((await exportProof(audit, path)).text, key);
    expect(verdict.result).toBe("altered");
    await writeEvents(audit, 1, { organization_id: `beside-${owner}` });
    await exportProof(audit, logOf(`beside-${owner}`));
    const later = await verify((await exportProof(audit, path)).text, key);
    expect(later.result).toBe("altered");
  });

  // AU-143, AU-157
  test.each([
    ["removes the map", "delete from audit.head_map"],
    [
      "swaps nodes of the map",
      "update audit.head_map set node = (select node from audit.head_map order by version limit 1)",
    ],
    [
      "changes hashes of the tree",
      "update audit.leaves set hashes = decode(repeat('00', length(hashes)), 'hex') where number = 2",
    ],
    ["removes leaves", "delete from audit.leaves where number = 2"],
    ["changes a leaf", "update audit.leaves set map = sha256('x') where number = 2"],
  ])("%s, no export of a log is complete with a kept root, and none is signed anew", async (_, statement) => {
    const { path, before } = await sealedLog();
    const kept = await asKept(before.end.note ?? "");
    for (const table of ["leaves", "head_map"]) {
      await tamper(`create table audit.kept_${table} as select * from audit.${table}`);
    }
    try {
      await tamper(statement);
      const answer = await audit.get(`${path}?proof=true&root=${kept.head.size}`).then(async (response) => ({
        status: response.status,
        text: await response.text().catch(() => ""),
      }));
      const verdict = await verify(answer.text, key, { roots: [kept] });
      const isHarmless = statement.includes("number = 2") && verdict.result === "complete";
      if (!isHarmless) expect([answer.status === 200, verdict.result]).not.toEqual([true, "complete"]);
    } finally {
      for (const table of ["leaves", "head_map"]) {
        await tamper(`delete from audit.${table}; insert into audit.${table} select * from audit.kept_${table};
          drop table audit.kept_${table}`);
      }
    }
    expect(await verify((await exportProof(audit, path)).text, key)).toMatchObject({ result: "complete" });
  });
});
