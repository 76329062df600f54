import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { services, waitFor } from "../../support/index.ts";
import { metricOf } from "../../support/telemetry/metrics.ts";
import { intent, logOf, requestId, sqlOn } from "./audit-service.ts";
import { exportProof, sharedProvenLog, verify, writeEvents } from "./proof-bed.ts";

setDefaultTimeout(60_000);

// AU-67
describe.skipIf(!services().postgres.real)("a log whose newest events were cut off in the database", () => {
  const proven = sharedProvenLog();
  const { audit, tamper } = proven;

  const setAside = async (owner: string) => {
    const [found] = await sqlOn(proven.log)<{ reason: string; position: number | null }>`
      select reason, position from audit.altered_chains where owner = ${`organization:${owner}`}`;
    return found;
  };

  const setAsideCount = async () => {
    const [found] = await sqlOn(proven.log)<{ count: number }>`
      select count(*)::integer as count from audit.altered_chains where not accepted`;
    return found?.count ?? 0;
  };

  /**
   * Writes a log of six entries, removes the last three with their events, and resets the chain's row. The
   * tables `audit.cut_…` keep copies of the removed rows.
   */
  async function cutLog(owner: string) {
    await writeEvents(audit, 2, { organization_id: owner });
    await exportProof(audit, logOf(owner));
    const name = `organization:${owner}`;
    await tamper(`create table if not exists audit.cut_chains as select * from audit.chains where false;
      create table if not exists audit.cut_entries as select * from audit.entries where false;
      create table if not exists audit.cut_events as select * from audit.audit_events where false;
      insert into audit.cut_chains select * from audit.chains where owner = '${name}'`);
    const older = await exportProof(audit, logOf(owner));
    await writeEvents(audit, 2, { organization_id: owner });
    const whole = await exportProof(audit, logOf(owner));
    expect([older.end.head.position, whole.end.head.position]).toEqual([3, 6]);
    const chain = `(select id from audit.chains where owner = '${name}')`;
    const events = `select event_id from audit.entries where chain_id = ${chain} and position > 3`;
    await tamper(`insert into audit.cut_events select * from audit.audit_events where id in (${events});
      insert into audit.cut_entries select * from audit.entries where chain_id = ${chain} and position > 3;
      insert into audit.cut_chains select * from audit.chains where owner = '${name}';
      delete from audit.audit_events where id in (${events});
      delete from audit.entries where chain_id = ${chain} and position > 3`);
    await setChain(owner, 3);
    return { name, older, whole };
  }

  /** Restores a chain's row from the copy that was made at a position. */
  const setChain = (owner: string, position: number) =>
    tamper(`update audit.chains known set position = kept.position, chain = kept.chain,
        checkpoint = kept.checkpoint, inclusion = kept.inclusion
      from audit.cut_chains kept
      where known.owner = 'organization:${owner}' and kept.owner = known.owner and kept.position = ${position}`);

  const restore = async (owner: string) => {
    await tamper(`insert into audit.audit_events select * from audit.cut_events where organization_id = '${owner}';
      insert into audit.entries select * from audit.cut_entries where event_id in
        (select id from audit.cut_events where organization_id = '${owner}')`);
    await setChain(owner, 6);
  };

  test("is no longer sealed while others are; once restored, every event gets its position", async () => {
    const { whole } = await cutLog("cut");
    await audit.put(requestId(), intent({ organization_id: "cut" }));
    await waitFor(async () => (await setAside("cut")) !== undefined, { what: "the refusal" });
    await waitFor(async () => (await metricOf(audit, "audit_altered_logs")) === (await setAsideCount()));
    expect(await setAside("cut")).toEqual({
      reason: "the chain ends at position 3, and position 6 was sealed",
      position: 6,
    });
    await writeEvents(audit, 3, { organization_id: "other" });
    const other = await exportProof(audit, logOf("other"));
    expect(await verify(other.text, proven.keys)).toMatchObject({ complete: true, events: 3 });
    // Later events get no position, so the verifier does not report them as added.
    const cut = await exportProof(audit, logOf("cut"));
    expect(cut.end.head.position).toBe(3);
    expect((await verify(cut.text, proven.keys, { checkpoints: [], end: whole.end })).faults).toMatchObject([
      { kind: "rebuilt", message: expect.stringContaining("does not contain the head of this chain") },
      { kind: "rebuilt", message: expect.stringContaining("newer entries were cut off") },
    ]);

    await restore("cut");
    await waitFor(async () => (await setAside("cut")) === undefined, {
      what: "the recovery",
      timeoutMs: 20_000,
    });
    await waitFor(async () => (await metricOf(audit, "audit_altered_logs")) === (await setAsideCount()));
    const after = await exportProof(audit, logOf("cut"));
    expect(await verify(after.text, proven.keys, { checkpoints: [], end: whole.end })).toMatchObject({
      complete: true,
      events: 5,
    });
  });

  test("stays unsealed after a restart, until an operator accepts its current state", async () => {
    const { name } = await cutLog("stays");
    await audit.put(requestId(), intent({ organization_id: "stays" }));
    await waitFor(async () => (await setAside("stays")) !== undefined, { what: "the refusal" });
    await audit.restart();
    await audit.put(requestId(), intent({ organization_id: "stays" }));
    await writeEvents(audit, 2, { organization_id: "meanwhile" });
    await exportProof(audit, logOf("meanwhile"));
    expect((await exportProof(audit, logOf("stays"))).end.head.position).toBe(3);
    await tamper(`update audit.altered_chains set accepted = true where owner = '${name}'`);
    await waitFor(async () => (await setAside("stays")) === undefined, {
      what: "the recovery",
      timeoutMs: 20_000,
    });
    const after = await exportProof(audit, logOf("stays"));
    expect(await verify(after.text, proven.keys)).toMatchObject({ complete: true, events: 4 });
  });

  test.each([
    ["its entries still there", "select 1", "the chain has entries after its end"],
    [
      "its row gone",
      "delete from audit.chains where owner = '$OWNER'",
      "the chain has entries|the chain ends at position 0",
    ],
    [
      "another value at its end",
      "update audit.chains set chain = sha256('x') where owner = '$OWNER'",
      "the chain ends at position 3, and position 6 was sealed",
    ],
  ])("and left with %s does not delay other logs", async (title, statement, reason) => {
    const owner = `broken-${title.replaceAll(" ", "-")}`;
    const { name } = await cutLog(owner);
    if (title.startsWith("its entries")) await restoreEntries(owner);
    await tamper(statement.replaceAll("$OWNER", name));
    await audit.put(requestId(), intent({ organization_id: owner }));
    await waitFor(async () => (await setAside(owner)) !== undefined, { what: "the refusal" });
    expect((await setAside(owner))?.reason).toMatch(new RegExp(reason));
    await writeEvents(audit, 2, { organization_id: `beside-${owner}` });
    const { text } = await exportProof(audit, logOf(`beside-${owner}`));
    expect(await verify(text, proven.keys)).toMatchObject({ complete: true, events: 2 });
  });

  const restoreEntries = (owner: string) =>
    tamper(`insert into audit.entries select * from audit.cut_entries where event_id in
      (select id from audit.cut_events where organization_id = '${owner}')`);
});
