import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BATCH_MAX, type ProofEnd, type ProvenEvent } from "@ostiary/lib/contracts/audit";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import {
  type Finding,
  type KeptRoot,
  readKeptRoot,
  readLogKey,
  type Verdict,
  type VerifyGiven,
  verifyExport,
} from "@ostiary/lib/verification";
import { sql } from "drizzle-orm";
import { publicBytes, verifierKeyText } from "../../support/audit/test-log.ts";
import { freshDatabase } from "../../support/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type AuditService, type AuditServiceOptions, intent, requestId, startAudit } from "./bed.ts";

/**
 * Writes a new Ed25519 private key (PKCS #8, PEM) to a file that other users cannot read. Returns its path.
 */
export function writeSigningKey(): string {
  const { privateKey } = generateKeyPairSync("ed25519");
  return writeKeyFile(privateKey.export({ type: "pkcs8", format: "pem" }).toString());
}

/** Writes a text to a new file, and returns its path. */
export function writeKeyFile(text: string, mode = 0o600): string {
  const path = join(temporaryFolder("key"), "key.pem");
  writeFileSync(path, text, { mode });
  return path;
}

/** Starts an audit service that signs its log and seals often. */
export function startProvenAudit(options: AuditServiceOptions = {}): Promise<AuditService> {
  return startAudit({
    ...options,
    env: { SEAL_INTERVAL_MS: "100", AUDIT_SIGNING_KEY_FILE: writeSigningKey(), ...options.env },
  });
}

/**
 * Writes `count` consecutive events of organization-1. All except the last get an outcome. Returns their ids.
 */
export async function writeEvents(
  audit: AuditService,
  count: number,
  changes: Record<string, unknown> = {},
): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const id = requestId();
    await audit.put(id, intent(changes));
    if (n < count - 1) {
      await audit.patch(id, {
        outcome: "responded",
        status: 200 + n,
        details: { name: { from: `a ${n}`, to: `b ${n}` }, nested: [{ deep: null }] },
        created_id: `created-${n}`,
      });
    }
    ids.push(id);
  }
  return ids;
}

/**
 * Writes `count` events of organization-1 in batches, each with an outcome. This takes a fraction of the time of
 * {@link writeEvents}, above all in an embedded database.
 */
export async function writeBatches(audit: AuditService, count: number): Promise<void> {
  for (let left = count; left > 0; left -= BATCH_MAX) {
    const ids = Array.from({ length: Math.min(left, BATCH_MAX) }, requestId);
    const intents = ids.map((request_id) => ({ request_id, ...intent() }));
    const outcomes = ids.map((request_id) => ({ request_id, outcome: "responded", status: 200 }));
    for (const response of [await audit.postIntents({ intents }), await audit.postOutcomes({ outcomes })]) {
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    }
  }
}

export const ORGANIZATION_LOG = "/organizations/organization-1/audit-events";

/** An export with proof, as text and parsed. */
export interface ProofExport {
  text: string;
  events: ProvenEvent[];
  end: ProofEnd;
}

/** Exports a log with proof, also of the head under the root of a tree of size `root`. */
export async function exportProof(
  audit: AuditService,
  path = ORGANIZATION_LOG,
  root?: number,
): Promise<ProofExport> {
  const response = await audit.get(`${path}?proof=true${root === undefined ? "" : `&root=${root}`}`);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return readExport(await response.text());
}

export function readExport(text: string): ProofExport {
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { text, events: lines.slice(0, -1), end: lines.at(-1) };
}

/** Returns an export as NDJSON text. */
export function exportText({ events, end }: Pick<ProofExport, "events" | "end">): string {
  return [...events, end].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Returns the verifier key of the log that signs with the key in a file. */
export function verifierKeyOf(keyFile: string, origin = "ostiary/audit-log"): string {
  return verifierKeyText(origin, 1, publicBytes(createPrivateKey(readFileSync(keyFile, "utf8"))));
}

/** Returns a signed root as a kept root. */
export async function asKept(text: string): Promise<KeptRoot> {
  const root = await readKeptRoot("root", bytesOf(text));
  if (root === null) throw new Error(`no root: ${text}`);
  return root;
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array, void, void> {
  yield new TextEncoder().encode(text);
}

/** Verifies an export. `key` is the verifier key that must have signed it, or null to trust the keys in the file. */
export function verify(
  text: string,
  key: string | null = null,
  given: Partial<VerifyGiven> = {},
): Promise<Verdict> {
  const trusted = key === null ? null : readLogKey(key);
  const keys = trusted === null ? null : [trusted];
  return verifyExport(lines(text), { owner: null, keys, roots: [], witnesses: null, ...given });
}

/** Returns the codes of a verdict's findings with their places. */
export function found({ findings }: Verdict): (Pick<Finding, "code"> & Finding["place"])[] {
  return findings.map(({ code, place }) => ({ code, ...place }));
}

/** Returns the newest signed root that the service publishes, as a kept root. */
export async function keptRoot(audit: AuditService): Promise<KeptRoot> {
  const response = await audit.get("/audit-log/checkpoint");
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return asKept(await response.text());
}

async function* lines(text: string): AsyncGenerator<string, void, void> {
  yield* text.split("\n").slice(0, -1);
}

/**
 * Runs statements with triggers disabled, which only the owner can do. Semicolons separate the statements.
 */
export function tamperWith(log: Database, statements: string): Promise<void> {
  return log.transaction("tamper", async (tx) => {
    await rows(tx, sql`set local session_replication_role = replica`);
    for (const part of statements.split(";")) if (part.trim() !== "") await rows(tx, sql.raw(part));
  });
}

/** Copies a database that has no open connections. Returns the URL of the copy. */
export function cloned(databaseUrl: string): Promise<string> {
  return freshDatabase(new URL(databaseUrl).pathname.slice(1));
}
