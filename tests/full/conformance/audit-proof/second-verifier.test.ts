import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createPrivateKey } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readKept } from "@ostiary/cli/verify/files";
import { NotIJson, parseIJson } from "@ostiary/lib/domain/json";
import {
  type Checkpoint,
  canonicalJson,
  checkpointHash,
  hashFromHex,
  headLeaf,
  hexOf,
  intentEntry,
  isInMap,
  nextInChain,
  outcomeEntry,
  readCheckpoint,
  retentionEntry,
  sha256,
  signedCheckpoint,
  ZERO_HASH,
} from "@ostiary/lib/domain/proof";
import { knownSignatures, logKey, readNote, readTreeHead } from "@ostiary/lib/domain/tlog";
import { rows } from "@ostiary/lib/runtime/stores/database";
import { sql } from "drizzle-orm";
import {
  type AuditService,
  intent,
  openLog,
  requestId,
  userIntent,
} from "../../../app/audit/audit-service.ts";
import {
  exportProof,
  exportText,
  findingsOf,
  keysOf,
  NOTHING_KEPT,
  readExport,
  startProvenAudit,
  verdictOf,
  verify,
  witnessRuleOf,
  writeEvents,
} from "../../../app/audit/proof-bed.ts";
import { headTree, mapRoot } from "../../../support/audit/trees-of-heads.ts";
import { services } from "../../../support/index.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { VECTOR_NAMES } from "./vector-names.ts";
import { exportVectors, textOf, VECTORS, vectors, WITNESS_VECTORS } from "./vectors.ts";

const VERIFIER = join(import.meta.dir, "verifier.py");

async function fileOf(folder: string, name: string, lines: readonly string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, textOf(lines));
  return path;
}

describe("the product's code agrees with the test vectors for", () => {
  // AU-50
  test("canonical JSON", () => {
    for (const { json, canonical } of vectors.canonical_json)
      expect(canonicalJson(JSON.parse(json))).toBe(canonical);
  });

  // AU-50, AU-51, AU-52
  test("entries and chains", () => {
    for (const vector of vectors.entries) {
      const { event, intent_wrote, intent_salt, outcome_salt } = vector;
      expect(intentEntry(event, intent_wrote, intent_salt)).toBe(vector.intent);
      expect(outcomeEntry(event, intent_wrote, outcome_salt)).toBe(vector.outcome);
    }
    const values = [hexOf(ZERO_HASH)];
    for (const entry of vectors.chain.entries) {
      values.push(hexOf(nextInChain(hashFromHex(values.at(-1) ?? ""), sha256(entry))));
    }
    expect(values).toEqual(vectors.chain.values);
  });

  test("I-JSON", () => {
    for (const { json, taken } of vectors.i_json) {
      if (taken) expect(parseIJson(json)).toEqual(JSON.parse(json));
      else expect(() => parseIJson(json)).toThrow(NotIJson);
    }
  });

  // AU-68
  test("declarations of dropped months", () => {
    for (const { owner, salt, entry, entry_sha256, ...retention } of vectors.retention) {
      expect(retentionEntry(owner, retention, salt)).toBe(entry);
      expect(hexOf(sha256(entry))).toBe(entry_sha256);
    }
  });

  // AU-65, AU-66, AU-68, AU-76, AU-156, AU-157, AU-195, AU-197, AU-198, AU-199
  test.each(exportVectors)("an export: $title", async ({ title, lines, keys, kept, witnesses, result }) => {
    const folder = temporaryFolder("proof");
    const copies = kept === null ? NOTHING_KEPT : await readKept(await fileOf(folder, "kept", kept));
    const rule = witnessRuleOf(witnesses);
    const verdict = await verdictOf(textOf(lines), { keys, kept: copies, witnesses: rule });
    expect([verdict.result, verdict.faults.length > 0]).toEqual([result, result === "altered"]);
    const named = VECTOR_NAMES[title] ?? null;
    expect([title, named === null]).toEqual([title, result === "complete"]);
    if (named !== null) expect(findingsOf(verdict)).toContainEqual(expect.objectContaining(named));
  });

  test("the expected finding of each export that is not complete", () => {
    const titles = exportVectors.map(({ title }) => title);
    expect(Object.keys(VECTOR_NAMES).filter((title) => !titles.includes(title))).toEqual([]);
  });

  // AU-57
  test("heads", () => {
    for (const { heads, root, inclusions } of vectors.head_trees) {
      const read = heads.map((head: { chain: string }) => ({ ...head, chain: hashFromHex(head.chain) }));
      expect(read.map(headLeaf).map(hexOf)).toEqual(heads.map(({ leaf }: { leaf: string }) => leaf));
      expect({ ...headTree(read), root: hexOf(headTree(read).root) }).toEqual({ root, inclusions });
    }
  });

  // AU-140, AU-141
  test("maps of heads", () => {
    for (const { heads, root, proofs } of vectors.head_maps) {
      const read = heads.map((head: { chain: string }) => ({ ...head, chain: hashFromHex(head.chain) }));
      expect(hexOf(mapRoot(read))).toBe(root);
      for (const { map, holds, ...head } of proofs) {
        expect(isInMap({ ...head, chain: hashFromHex(head.chain) }, map, hashFromHex(root))).toBe(holds);
      }
    }
  });

  // AU-150
  test("signed roots of the tree", async () => {
    const [{ jwk }] = vectors.keys;
    for (const { note, size, text_sha256 } of vectors.signed_roots) {
      const read = readNote(note);
      const head = readTreeHead(read?.text ?? "");
      expect([head?.size, hexOf(sha256(note))]).toEqual([size, text_sha256]);
      const key = logKey(jwk, head?.origin ?? "");
      expect(read && (await knownSignatures(read, [key]))).toEqual([{ key, isRight: true, timeS: null }]);
    }
  });

  // AU-56, AU-58
  test("checkpoints and keys", async () => {
    let previous: Checkpoint | null = null;
    for (const { text_sha256, ...checkpoint } of vectors.checkpoints) {
      expect(checkpoint.previous).toBe(previous === null ? hexOf(ZERO_HASH) : checkpointHash(previous));
      expect(checkpointHash(checkpoint)).toBe(text_sha256);
      if (checkpoint.jws !== null) {
        expect(readCheckpoint(checkpoint.jws)).toEqual(checkpoint);
        const header = JSON.parse(Buffer.from(checkpoint.jws.split(".")[0], "base64url").toString());
        const { jws: _, ...payload } = checkpoint;
        expect(
          await signedCheckpoint(payload, { kid: header.kid, privateKey: await privateKey(header.kid) }),
        ).toEqual(checkpoint);
      }
      previous = checkpoint;
    }
  });
});

/** Returns the private key with this id, from its seed in the vectors. */
function privateKey(kid: string): Promise<CryptoKey> {
  const { seed } = vectors.keys.find(({ jwk }: { jwk: { kid: string } }) => jwk.kid === kid);
  const PKCS8_ED25519 = "302e020100300506032b657004220420";
  const key = createPrivateKey({
    key: Buffer.from(PKCS8_ED25519 + seed, "hex"),
    format: "der",
    type: "pkcs8",
  });
  return crypto.subtle.importKey(
    "pkcs8",
    key.export({ type: "pkcs8", format: "der" }),
    { name: "Ed25519" },
    false,
    ["sign"],
  );
}

// AU-65
describe.skipIf(Bun.which("python3") === null)("a verifier in Python, written from the README alone,", () => {
  let audit: AuditService;
  let folder: string;
  beforeAll(async () => {
    audit = await startProvenAudit();
    folder = temporaryFolder("proof");
  });
  afterAll(() => audit.stop());

  function python(...parameters: string[]): PythonVerdict {
    const { stdout, stderr, exitCode } = Bun.spawnSync(["python3", VERIFIER, ...parameters]);
    if (exitCode !== 0) throw new Error(stderr.toString());
    return JSON.parse(stdout.toString());
  }

  /**
   * Expects that both verifiers reach the same verdict on an export, and returns the Python verifier's
   * verdict.
   */
  async function agreed(text: string): Promise<PythonVerdict> {
    const [file, keysFile] = [join(folder, "export.ndjson"), join(folder, "keys.json")];
    const keys = await keysOf(audit);
    await writeFile(file, text);
    await writeFile(keysFile, JSON.stringify({ keys }));
    const theirs = python("verify", file, keysFile);
    const ours = await verify(text, keys);
    const named = (kind: string) =>
      ours.faults.flatMap((problem) =>
        problem.kind === kind && problem.event_id !== null ? [problem.event_id] : [],
      );
    expect([theirs.result, theirs.events]).toEqual([ours.result, ours.events]);
    expect([...new Set(named("changed"))].sort()).toEqual(theirs.changed);
    expect(named("added").sort()).toEqual(theirs.unplaced);
    expect(ours.faults.some(({ kind }) => kind === "removed")).toBe(theirs.missing.length > 0);
    return theirs;
  }

  test("agrees with the vectors", () => {
    expect(python("vectors", VECTORS, WITNESS_VECTORS)).toMatchObject({ complete: true });
  });

  test("agrees on logs of organizations and persons, with every kind of event", async () => {
    await writeEvents(audit, 5, { organization_id: "seen" });
    const odd = requestId();
    await audit.put(
      odd,
      intent({
        organization_id: "seen",
        user_agent: "𝒳 \u2028 \u007f é",
        params: { "\ufb33": "1", "😀": "2" },
      }),
    );
    await audit.patch(odd, {
      outcome: "responded",
      status: 200,
      details: {
        half: "\ud83d",
        numbers: [1e21, 1e-7, 0.1, -5e-324, 123456789012345680000, 100, 1.5e300],
        "\udc00": null,
      },
    });
    for (const named of [{}, { organization_id: "seen", member_id: "member-7" }]) {
      const id = requestId();
      await audit.put(id, userIntent({ user_id: "seen" }));
      await audit.patch(id, { outcome: "responded", status: 200, ...named });
    }
    expect(await agreed((await exportProof(audit, "/organizations/seen/audit-events")).text)).toMatchObject({
      complete: true,
      events: 7,
    });
    expect(await agreed((await exportProof(audit, "/users/seen/audit-events")).text)).toMatchObject({
      complete: true,
      events: 2,
    });
    expect(await agreed((await exportProof(audit, "/users/nobody/audit-events")).text)).toMatchObject({
      result: "complete",
      events: 0,
    });
  });

  test("agrees on files that were edited", async () => {
    await writeEvents(audit, 4, { organization_id: "edited" });
    const { text } = await exportProof(audit, "/organizations/edited/audit-events");
    const edit = (change: (found: ReturnType<typeof readExport>) => void) => {
      const found = readExport(text);
      change(found);
      return agreed(exportText(found));
    };
    expect(await edit(({ events }) => Object.assign(events[1] ?? {}, { status: 299 }))).toMatchObject({
      complete: false,
    });
    expect(await edit(({ events }) => Object.assign(events[2]?.details ?? {}, { more: " " }))).toMatchObject({
      complete: false,
    });
    expect(await edit(({ events }) => events.splice(1, 1))).toMatchObject({ missing: [5, 6] });
    expect(await edit(({ events }) => events.pop())).toMatchObject({ missing: [1, 2] });
    expect(await edit(({ events }) => events.shift())).toMatchObject({ missing: [7] });
    const swapped = await edit(({ events: [, second, third] }) => {
      if (second && third) [second.proof, third.proof] = [third.proof, second.proof];
    });
    expect(swapped.changed).toHaveLength(2);
    const cut = await edit(({ events, end }) => {
      events.shift();
      end.head = { ...end.head, position: 6, chain: events[0]?.proof.outcome?.chain ?? "" };
    });
    expect(cut.wrong).toEqual(["no checkpoint holds the head"]);
  });

  test.skipIf(!services().postgres.real)("agrees on logs that were altered in the database", async () => {
    const log = await openLog(audit);
    const tamper = (statement: string) =>
      log.transaction("tamper", async (tx) => {
        await rows(tx, sql`set local session_replication_role = replica`);
        await rows(tx, sql.raw(statement));
      });
    const events = "audit.audit_events where organization_id = 'altered' and";
    for (const [n, statement] of [
      `update audit.audit_events set user_agent = user_agent || ' ' where organization_id = 'altered' and status = 201`,
      `delete from ${events} status = 202`,
      `insert into audit.audit_events select left(id, 25) || case right(id, 1) when '0' then '1' else '0' end, occurred_at, request_id || 'x', organization_id, user_id,
         actor_member_id, actor_auth_type, actor_key_prefix, service, method, route, params, ip, user_agent, outcome,
         status, details, created_id from ${events} status = 200`,
    ].entries()) {
      await writeEvents(audit, 4, { organization_id: `altered-${n}` });
      await exportProof(audit, `/organizations/altered-${n}/audit-events`);
      await tamper(statement.replaceAll("'altered'", `'altered-${n}'`));
      const verdict = await agreed(
        (await exportProof(audit, `/organizations/altered-${n}/audit-events`)).text,
      );
      expect(verdict.complete).toBe(false);
    }
    await log.close();
  });
});

interface PythonVerdict {
  result: string;
  complete: boolean;
  events: number;
  changed: string[];
  missing: number[];
  unplaced: string[];
  wrong: string[];
}
