/** Tests that an export with proof has a root that witnesses cosigned, and that a rewritten log has none. */

import { describe, expect, test } from "bun:test";
import { systemClock } from "@ostiary/lib/async";
import type { ProofEnd } from "@ostiary/lib/contracts/audit";
import { readWitnessKeys, type Verdict } from "@ostiary/lib/verification";
import type { AuditService } from "../../../app/audit/audit-service.ts";
import { exportProof, exportText, found, verify, writeSigningKey } from "../../../app/audit/proof-bed.ts";
import {
  cosigned,
  type Entry,
  ORIGIN,
  SOON,
  servedRoot,
  startFake,
  startWitnessed,
  WITNESS,
  witnessedLog,
  write,
} from "../../../app/audit/witnesses-bed.ts";
import { waitFor } from "../../../support/index.ts";
import { metricOf } from "../../../support/telemetry/metrics.ts";

type CosignedPart = NonNullable<ProofEnd["cosigned"]>;

/** Verifies an export, and requires a cosignature of this witness. */
function verdictOn(text: string, { key }: Entry): Promise<Verdict> {
  return verify(text, null, { witnesses: { keys: readWitnessKeys(key), quorum: 1, nowMs: Date.now() } });
}

const codesOf = (verdict: Verdict) => found(verdict).map(({ code }) => code);

/** Waits until an export has a root that the witness cosigned, and returns that export. */
function seenExport(audit: AuditService, entry: Entry): Promise<{ end: ProofEnd; cosigned: CosignedPart }> {
  return waitFor(async () => {
    const { text, end } = await exportProof(audit);
    const { result, witnesses } = await verdictOn(text, entry);
    const { cosigned } = end;
    if (result !== "complete" || cosigned === undefined) return null;
    expect(witnesses).toMatchObject({ quorum: 1, cosignatures: [{ name: WITNESS }] });
    return { end, cosigned };
  }, SOON);
}

/**
 * Expects that a log with a forged history has no valid export: not as served, not without a cosigned root,
 * and not with the cosigned root or the cosignature of the first history.
 */
async function expectUnseen(audit: AuditService, entry: Entry, first: CosignedPart): Promise<void> {
  const read = await exportProof(audit);
  const { cosigned: _, ...bare } = read.end;
  expect((await verify(exportText({ ...read, end: bare }))).result).toBe("complete");
  expect((await verdictOn(read.text, entry)).result).not.toBe("complete");
  const shown = (cosigned?: CosignedPart) =>
    verdictOn(exportText({ ...read, end: { ...bare, ...(cosigned && { cosigned }) } }), entry);
  expect(codesOf(await shown())).toEqual(["not_cosigned"]);
  expect((await shown(first)).result).not.toBe("complete");
  const lines = first.note.slice(first.note.indexOf("\n\n") + 2).split("\n");
  const cosignature = lines.find((line) => line.startsWith(`— ${WITNESS} `));
  const moved = { note: `${bare.note}${cosignature}\n`, consistency: [] };
  expect(await shown(moved)).toMatchObject({ result: "altered" });
}

describe("an export with proof", () => {
  // AU-195, AU-196
  test("has no cosigned root if no witness responds", async () => {
    const silent = startFake("silent", () => new Promise(() => {}));
    const audit = await startWitnessed(writeSigningKey(), [silent]);
    await write(audit);
    const { text, end } = await exportProof(audit);
    expect([end.note?.startsWith(ORIGIN), end.cosigned]).toEqual([true, undefined]);
    const verdict = await verdictOn(text, silent);
    expect([verdict.result, codesOf(verdict)]).toEqual(["undecided", ["not_cosigned"]]);
  });

  // AU-48, AU-196
  test("frees its slot when the client disconnects while it waits for witnesses", async () => {
    const silent = startFake("silent", () => new Promise(() => {}));
    // No time passes on this clock, so the wait for witnesses never times out.
    const clock = { ...systemClock, elapsedMs: () => 0 };
    const audit = await startWitnessed(writeSigningKey(), [silent], { clock });
    await write(audit);
    const path = "/organizations/organization-1/audit-events/export?format=ndjson&proof=true";
    // One log has fewer than four slots, so each export must free its slot for the next one.
    for (let n = 0; n < 4; n++) {
      const client = new AbortController();
      const response = await waitFor(async () => {
        const found = await fetch(`${audit.url}${path}`, { signal: client.signal });
        if (found.status === 200) return found;
        await found.text();
        return null;
      }, SOON);
      const first = await response.body?.getReader().read();
      expect(Buffer.from(first?.value ?? []).toString()).toContain("organization-1");
      client.abort();
    }
  });
});

// AU-173, AU-197, AU-198, AU-201
test("a log that was rewritten with its own key gets no cosignature, and the service logs it", async () => {
  const { keyFile, entry } = witnessedLog();
  const original = await startWitnessed(keyFile, [entry]);
  for (let n = 0; n < 3; n++) {
    await write(original);
    await cosigned(original, entry, n + 1);
  }
  const before = await seenExport(original, entry);
  await original.stop();
  const rewritten = await startWitnessed(keyFile, [entry]);
  const MESSAGE = "a witness says that the audit log does not continue what the witness cosigned";
  await write(rewritten);
  await waitFor(() => rewritten.log().includes(MESSAGE), SOON);
  // The rewritten log grows beyond the size that the witness knows.
  for (let size = 1; size <= 5; size++) {
    await write(rewritten);
    await waitFor(async () => ((await servedRoot(rewritten))?.size ?? 0) >= size + 1, SOON);
  }
  const conflict = /the witness (does not accept the proof from|cosigned) size/;
  await waitFor(() => conflict.test(rewritten.log()), SOON);
  await expectUnseen(rewritten, entry, before.cosigned);
  expect((await servedRoot(rewritten))?.signatures).toHaveLength(1);
  expect(await metricOf(rewritten, "audit_witness_conflicts")).toBe(1);
});
