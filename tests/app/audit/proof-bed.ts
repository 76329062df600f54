import { afterAll, beforeAll } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BATCH_MAX, type ProofEnd, type ProvenEvent } from "@ostiary/lib/contracts/audit";
import type { SigningJwk } from "@ostiary/lib/domain/proof";
import { type Database, rows } from "@ostiary/lib/runtime/stores/database";
import {
  type EnglishVerdict,
  inEnglish,
  type KeptCopies,
  readWitnessKeys,
  type Verdict,
  type VerifyGiven,
  verifyExport,
  type WitnessRule,
} from "@ostiary/lib/verification";
import type { Finding } from "@ostiary/lib/verification/findings";
import { sql } from "drizzle-orm";
import { freshDatabase } from "../../support/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import {
  type AuditService,
  type AuditServiceOptions,
  intent,
  openLog,
  requestId,
  type SharedAudit,
  sharedAudit,
  startAudit,
} from "./audit-service.ts";

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

/** Starts an audit service that signs its checkpoints and seals often. */
export function startProvenAudit(options: AuditServiceOptions = {}): Promise<AuditService> {
  return startAudit({
    ...options,
    env: { SEAL_INTERVAL_MS: "100", AUDIT_SIGNING_KEY_FILE: writeSigningKey(), ...options.env },
  });
}

/**
 * A service with a signing key that all tests of a `describe` share, and an open connection to its database.
 */
export interface ProvenLog {
  readonly audit: SharedAudit;
  readonly log: Database;
  readonly keys: SigningJwk[];
  readonly keyFile: string;
  /** Runs statements on the service's database, see {@link tamperWith}. */
  tamper(statements: string): Promise<void>;
}

/**
 * Starts a {@link ProvenLog}. Needs a PostgreSQL server, because an embedded database allows one session
 * only.
 */
export function sharedProvenLog(): ProvenLog {
  const keyFile = writeSigningKey();
  const audit = sharedAudit({ env: { AUDIT_SIGNING_KEY_FILE: keyFile } }, startProvenAudit);
  let opened: { log: Database; keys: SigningJwk[] } | undefined;
  beforeAll(async () => {
    opened = { log: await openLog(audit), keys: await keysOf(audit) };
  });
  afterAll(() => opened?.log.close());
  const running = () => {
    if (opened === undefined) throw new Error("The log is open only in tests and hooks.");
    return opened;
  };
  return {
    audit,
    keyFile,
    get log() {
      return running().log;
    },
    get keys() {
      return running().keys;
    },
    tamper: (statements) => tamperWith(running().log, statements),
  };
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
    for (const answer of [await audit.postIntents({ intents }), await audit.postOutcomes({ outcomes })]) {
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
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

export async function exportProof(audit: AuditService, path = ORGANIZATION_LOG): Promise<ProofExport> {
  const response = await audit.get(`${path}?proof=true`);
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

export async function keysOf(audit: AuditService): Promise<SigningJwk[]> {
  return JSON.parse(await (await audit.get("/.well-known/jwks.json")).text()).keys;
}

export const NOTHING_KEPT: KeptCopies = { checkpoints: [], end: null };

/** Verifies an export. Returns the findings as the sentences that `ostiary audit verify` prints. */
export async function verify(
  text: string,
  keys: SigningJwk[] | null = null,
  kept = NOTHING_KEPT,
  witnesses: WitnessRule | null = null,
): Promise<EnglishVerdict> {
  return inEnglish(await verdictOf(text, { keys, kept, witnesses }));
}

/** Verifies an export. Returns the findings as codes with values. */
export function verdictOf(text: string, given: Partial<VerifyGiven> = {}): Promise<Verdict> {
  return verifyExport(lines(text), { keys: null, kept: NOTHING_KEPT, witnesses: null, ...given });
}

/** Returns all findings of a verdict, except its list of facts that no export can show. */
export function findingsOf({ faults, undecided, witnesses }: Verdict): Finding[] {
  const lack = witnesses?.lack ?? null;
  return [...faults.map(({ finding }) => finding), ...undecided, ...(lack === null ? [] : [lack])];
}

/**
 * The witness rule of a test vector: the keys, how many of them must have cosigned, and the time of the
 * check.
 */
export interface WitnessVector {
  keys: string[];
  quorum: number;
  now: string;
}

export function witnessRuleOf(vector: WitnessVector | null | undefined): WitnessRule | null {
  if (vector == null) return null;
  const { keys, quorum, now } = vector;
  return { keys: readWitnessKeys(keys.join("\n")), quorum, nowMs: Date.parse(now) };
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
