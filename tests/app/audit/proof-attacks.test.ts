import { describe, expect, test } from "bun:test";
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
import { duringTests } from "../../support/during-tests.ts";
import { rejection } from "../../support/index.ts";
import { OwnLog } from "./own-log.ts";
import { asKept, found, type ProofExport, verify } from "./proof-bed.ts";

// AU-65
describe("when the owner of the tables, with triggers off,", () => {
  const log = duringTests(OwnLog.open);

  let count = 0;
  /** Returns a log of five sealed events. `ids` lists the events from the oldest to the newest. */
  async function sealedLog() {
    const owner = `attacked-${++count}`;
    const ids = await log.sealed(5, owner);
    const before = await log.proof(owner);
    expect(await verify(before.text, log.key)).toMatchObject({ result: "complete", events: 5 });
    return { owner, ids, before };
  }

  /** Runs an attack on a new log. In the statement, `$1` to `$5` are the ids of the five events. */
  async function attack(statement: string) {
    const attacked = await sealedLog();
    await log.tamper(
      statement
        .replace(/\$(\d)/g, (_, n) => `'${attacked.ids[n - 1]}'`)
        .replaceAll("$CHAIN", `(select id from audit.chains where owner = 'organization:${attacked.owner}')`),
    );
    return attacked;
  }

  async function attacked(statement: string) {
    const { owner, ids } = await attack(statement);
    return { verdict: await log.verdict(owner), ids };
  }

  // AU-51, AU-52
  test.each([
    ["a value in details", `details = '{"name":{"from":"a 1","to":"b 2"},"nested":[{"deep":null}]}'`],
    ["a time, by a millisecond", "occurred_at = occurred_at + interval '1 millisecond'"],
    ["the salt", "intent_salt = audit.random_salt()"],
    ["the outcome", "outcome = 'no_response', status = null"],
    ["the member", "actor_member_id = 'member-9'"],
    ["who the intent had named", "named_by_outcome = true, intent_member_id = 'member-9'"],
  ])("changes %s, the event is named", async (_, change) => {
    const { verdict, ids } = await attacked(`update audit.audit_events set ${change} where id = $2`);
    expect(verdict.result).toBe("altered");
    expect(found(verdict)[0]).toMatchObject({ event_id: ids[1] });
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

  test.each([
    [
      "removes an event in the middle with its entries",
      `delete from audit.audit_events where id = $2; delete from audit.entries where event_id = $2;
      delete from audit.request_ids where id = $2`,
      { code: "entries_missing", place: { position: 3, to: 4 } },
    ],
    [
      "replaces the id of an event everywhere",
      ["audit_events set id", "entries set event_id", "request_ids set id"]
        .map((to) => `update audit.${to} = left($2, 25) || 'Z' where ${to.split(" ").at(-1)} = $2`)
        .join(";"),
      { code: "entry_changed", place: { position: 3 } },
    ],
  ])("%s, the position is named", async (_, statement, finding) => {
    const { verdict } = await attacked(statement);
    expect(verdict.result).toBe("altered");
    expect(verdict.findings[0]).toMatchObject(finding);
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
  ])("adds an event or an outcome %s, there is no export", async (_, statement) => {
    const { owner } = await attack(statement);
    expect(String(await rejection(log.proof(owner)))).toContain("not sealed yet");
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
    const { ids, owner } = await sealedLog();
    await log.tamper(`update audit.audit_events set status = 500 where id = '${ids[1]}'`);
    await log.tamper(rebuilt(await log.proof(owner), owner).join(";"));
    expect((await log.verdict(owner)).result).toBe("altered");
    await log.sealed(1, `beside-${owner}`);
    expect((await log.verdict(owner)).result).toBe("altered");
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
      "update audit.leaves set hashes = decode(repeat('00', length(hashes)), 'hex')",
    ],
    [
      "changes the newest leaf",
      "update audit.leaves set map = sha256('x') where number = (select max(number) from audit.leaves)",
    ],
  ])("%s, no export of a log is complete with a kept root", async (_, statement) => {
    const { owner, before } = await sealedLog();
    const kept = await asKept(before.end.note ?? "");
    for (const table of ["leaves", "head_map"])
      await log.tamper(`create table audit.kept_${table} as select * from audit.${table}`);
    await log.tamper(statement);
    const read = await log.proof(owner, kept.head.size).catch(() => null);
    const verdict = read && (await verify(read.text, log.key, { roots: [kept] }));
    expect(verdict?.result).not.toBe("complete");
    for (const table of ["leaves", "head_map"]) {
      await log.tamper(`delete from audit.${table}; insert into audit.${table} select * from audit.kept_${table};
        drop table audit.kept_${table}`);
    }
    expect(await log.verdict(owner)).toMatchObject({ result: "complete" });
  });
});
