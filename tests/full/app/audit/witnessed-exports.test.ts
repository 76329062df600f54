/** Tests that an export with proof has a root that witnesses cosigned, and that a rewritten log has none. */

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { restartTree } from "@ostiary/audit/restart";
import { systemClock } from "@ostiary/lib/async";
import type { ProofEnd } from "@ostiary/lib/contracts/audit";
import { knownSignatures, readNoteKey } from "@ostiary/lib/domain/tlog";
import { readWitnessKeys, type Verdict } from "@ostiary/lib/verification";
import { type AuditService, openLog } from "../../../app/audit/bed.ts";
import {
  exportProof,
  exportText,
  found,
  verifierKeyOf,
  verify,
  writeKeyFile,
  writeSigningKey,
} from "../../../app/audit/proof-bed.ts";
import { passDeps } from "../../../app/audit/retention-bed.ts";
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
import { atTestEnd } from "../../../support/at-test-end.ts";
import { services, waitFor } from "../../../support/index.ts";
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

describe.skipIf(!services().postgres.real)("a log with a witness", () => {
  // AU-70, AU-172, AU-195
  test("is complete under its new key, although witnesses were away while both keys signed", async () => {
    const [old, next] = [writeSigningKey(), writeSigningKey()];
    const both = writeKeyFile([old, next].map((file) => readFileSync(file, "utf8")).join(""));
    let isAway = false;
    const entry = startFake("away.example.com", (body, witness) => {
      const text = body.slice(body.indexOf("\n\n") + 2, body.lastIndexOf("\n\n") + 1);
      return isAway ? new Response(null, { status: 503 }) : new Response(witness.line(text));
    });
    const first = await startWitnessed(old, [entry]);
    await write(first);
    await cosigned(first, entry);
    await first.stop();
    isAway = true;
    const { databaseUrl } = first;
    const during = await startWitnessed(both, [entry], { databaseUrl });
    await write(during);
    expect((await exportProof(during)).end.cosigned).toBeDefined();
    await during.stop();
    const after = await startWitnessed(next, [entry], { databaseUrl });
    await write(after);
    const { text, end } = await exportProof(after);
    expect([end.keys, end.cosigned]).toEqual([[verifierKeyOf(next, ORIGIN)], undefined]);
    expect((await verify(text, verifierKeyOf(next, ORIGIN))).result).toBe("complete");
    expect(codesOf(await verdictOn(text, entry))).toEqual(["not_cosigned"]);
    const root = await waitFor(() => servedRoot(after), SOON);
    const key = readNoteKey(verifierKeyOf(next, ORIGIN));
    expect(key && (await knownSignatures(root, [key]))).toMatchObject([{ isRight: true }]);
    isAway = false;
    await cosigned(after, entry, root.size);
  });

  // AU-173, AU-204
  test("is in no conflict when a restart began a tree of another name beside its service", async () => {
    const { keyFile, entry } = witnessedLog();
    const audit = await startWitnessed(keyFile, [entry]);
    for (let size = 1; size <= 2; size++) {
      await write(audit);
      await cosigned(audit, entry, size);
    }
    const log = await openLog(audit);
    atTestEnd(() => log.close());
    await restartTree(await passDeps(log, keyFile, "audit.example.com/log-2"));
    const failures = () => metricOf(audit, "audit_seal_failures_total");
    // the service asks its witnesses several times between two passes that fail
    await waitFor(async () => (await failures()) >= 3, SOON);
    expect(audit.log()).not.toContain("does not continue what the witness cosigned");
    expect(await metricOf(audit, "audit_witness_conflicts")).toBe(0);
  });
});
