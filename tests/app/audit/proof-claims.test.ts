import { beforeAll, describe, expect, test } from "bun:test";
import { type ProofEnd, RECENT_CHECKPOINTS } from "@ostiary/lib/contracts/audit";
import type { SigningJwk } from "@ostiary/lib/domain/proof";
import { intent, json, logOf, requestId, sharedAudit } from "./audit-service.ts";
import {
  exportProof,
  exportText,
  keysOf,
  type ProofExport,
  readExport,
  startProvenAudit,
  verify,
  writeEvents,
} from "./proof-bed.ts";

// AU-68, AU-76, AU-199
describe("a file that claims", () => {
  const audit = sharedAudit({}, startProvenAudit);
  let keys: SigningJwk[];
  let whole: ProofExport;

  beforeAll(async () => {
    await writeEvents(audit, 4);
    whole = await exportProof(audit);
    keys = await keysOf(audit);
  });

  /** Removes the oldest events from the file, and declares their positions as dropped. */
  function claiming(occurred_before: string, events = 1): string {
    const { events: all, end } = readExport(whole.text);
    const last = all[all.length - events]?.proof.outcome;
    const ranges = [{ from: 1, to: last?.position ?? 1, chain: last?.chain ?? "" }];
    return exportText({
      events: all.slice(0, -events),
      end: { ...end, dropped: { occurred_before, ranges } },
    });
  }

  const month = new Date().toISOString().slice(0, 7);

  test("that its oldest events were dropped before a time inside a month is refused", async () => {
    const oldest = whole.events.at(-2)?.occurred_at ?? "";
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    for (const time of [oldest, tomorrow, `${month}-02T00:00:00.000Z`, `${month}-01T00:00:00.001Z`]) {
      const { result, faults } = await verify(claiming(time), keys);
      expect([result, faults.map(({ kind }) => kind)]).toEqual(["altered", ["removed", "removed"]]);
      expect(faults.map(({ message }) => message).join()).toContain("is not the start of a month in UTC");
    }
  });

  test("that events before a malformed time were dropped is refused", async () => {
    for (const time of [
      "garbage",
      "",
      "2026",
      "9999999-01-01T00:00:00.000Z",
      "2026-13-01T00:00:00.000Z",
      `${month}-01`,
    ]) {
      const { result, faults } = await verify(claiming(time), keys);
      expect([time, result]).toEqual([time, "altered"]);
      expect(faults.map(({ message }) => message).join()).toContain(
        `The file declares events before "${time}" as dropped`,
      );
    }
  });

  test("that events of a future month were dropped is refused", async () => {
    const { result, faults } = await verify(claiming("2199-01-01T00:00:00.000Z"), keys);
    expect(result).toBe("altered");
    expect(faults.map(({ message }) => message).join()).toContain("but that time is after its checkpoint");
  });

  test("that whole months were dropped, in the format of older versions, is undecided", async () => {
    const { result, undecided, faults } = await verify(claiming(`${month}-01T00:00:00.000Z`), keys);
    expect([result, faults]).toEqual(["undecided", []]);
    expect(undecided.join()).toContain("does not show whether missing entries were dropped or removed");
    // A missing event between kept ones cannot belong to dropped months, so the claim does not excuse it.
    const { events, end } = readExport(whole.text);
    const [gone] = events.splice(1, 1);
    const { intent: first, outcome } = gone?.proof ?? { intent: null, outcome: null };
    const ranges = [{ from: first?.position ?? 0, to: outcome?.position ?? 0, chain: outcome?.chain ?? "" }];
    const dropped = { occurred_before: `${month}-01T00:00:00.000Z`, ranges };
    expect((await verify(exportText({ events, end: { ...end, dropped } }), keys)).complete).toBe(false);
  });

  test("that an event was dropped with a month that is not its own is refused", async () => {
    const { events, end } = readExport(whole.text);
    const chain = events[3]?.proof.outcome?.chain ?? "";
    const dropped = {
      occurred_before: `${nextYear()}-01-01T00:00:00.000Z`,
      ranges: [{ from: 1, to: 2, chain }],
    };
    const { result } = await verify(
      exportText({ events: events.slice(0, 3), end: { ...end, dropped } }),
      keys,
    );
    expect(result).toBe("altered");
  });
});

function nextYear(): number {
  return new Date().getUTCFullYear() + 1;
}

// AU-66, AU-76, AU-199
describe("with kept files,", () => {
  const audit = sharedAudit({}, startProvenAudit);
  let keys: SigningJwk[];
  beforeAll(async () => {
    keys = await keysOf(audit);
  });

  test("an empty log is confirmed by the map of the newest checkpoint", async () => {
    await writeEvents(audit, 2, { organization_id: "other" });
    await exportProof(audit, logOf("other"));
    const checkpoints = (await json(await audit.get("/audit-checkpoints"))).audit_checkpoints;
    const { text } = await exportProof(audit, logOf("empty"));
    const verdict = await verify(text, keys, { checkpoints, end: null });
    expect(verdict).toMatchObject({ result: "complete", faults: [], entries: 0 });
  });

  test("a log whose events were all removed is refused when a kept export is compared", async () => {
    await writeEvents(audit, 2, { organization_id: "cut" });
    const kept = await exportProof(audit, logOf("cut"));
    const { text } = await exportProof(audit, logOf("never"));
    const cut = text.replaceAll("organization:never", "organization:cut");
    const verdict = await verify(cut, keys, { checkpoints: [], end: kept.end });
    expect(verdict.faults).toMatchObject([
      { kind: "rebuilt", message: expect.stringContaining("does not contain the head of this chain") },
      { kind: "rebuilt", message: expect.stringContaining("newer entries were cut off") },
    ]);
  });

  test("a kept export of another log is not compared, and no problem is reported", async () => {
    await writeEvents(audit, 3, { organization_id: "mine" });
    await writeEvents(audit, 2, { organization_id: "yours" });
    const mine = await exportProof(audit, logOf("mine"));
    const yours = await exportProof(audit, logOf("yours"));
    for (const [file, kept] of [
      [mine, yours],
      [yours, mine],
    ] as const) {
      const verdict = await verify(file.text, keys, { checkpoints: [], end: kept.end });
      expect(verdict).toMatchObject({ result: "undecided", faults: [] });
      expect(verdict.undecided[0]).toContain("they cannot be compared");
    }
  });

  test("a kept checkpoint older than all in the file leaves the result undecided, and a kept export decides it", async () => {
    await writeEvents(audit, 1, { organization_id: "long" });
    const first = await exportProof(audit, logOf("long"));
    const [checkpoint] = first.end.recent_checkpoints;
    let end: ProofEnd = first.end;
    while ((end.recent_checkpoints.at(-1)?.number ?? 0) <= (checkpoint?.number ?? 0) + 1) {
      await audit.put(requestId(), intent({ organization_id: "long" }));
      end = (await exportProof(audit, logOf("long"))).end;
    }
    expect(end.recent_checkpoints).toHaveLength(RECENT_CHECKPOINTS);
    const { text } = await exportProof(audit, logOf("long"));
    const verdict = await verify(text, keys, { checkpoints: checkpoint ? [checkpoint] : [], end: null });
    expect(verdict).toMatchObject({ result: "undecided", faults: [] });
    expect(verdict.undecided.join()).toContain(`continues the kept checkpoint ${checkpoint?.number}:`);
    expect(await verify(text, keys, { checkpoints: [], end: first.end })).toMatchObject({ complete: true });
  }, 120_000);

  test("newest events that were cut off with their checkpoint are not detected, and the verdict says so", async () => {
    await writeEvents(audit, 2, { organization_id: "tail" });
    const older = await exportProof(audit, logOf("tail"));
    await writeEvents(audit, 2, { organization_id: "tail" });
    const newer = await exportProof(audit, logOf("tail"));
    const cut = exportText({
      events: older.events,
      end: { ...older.end, recent_checkpoints: newer.end.recent_checkpoints },
    });
    const verdict = await verify(cut, keys, { checkpoints: newer.end.recent_checkpoints, end: null });
    expect(verdict.complete).toBe(true);
    expect(verdict.not_shown[0]).toContain("Whether events after checkpoint");
    expect((await verify(cut, keys, { checkpoints: [], end: newer.end })).faults).toMatchObject([
      { kind: "rebuilt", message: expect.stringContaining("newer entries were cut off") },
    ]);
  });
});
