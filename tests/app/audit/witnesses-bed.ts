import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Clock } from "@ostiary/lib/async";
import {
  EMPTY_ROOT,
  isConsistent,
  knownSignatures,
  readNote,
  readNoteKey,
  readTreeHead,
} from "@ostiary/lib/domain/tlog";
import { atTestEnd } from "../../support/at-test-end.ts";
import { type TestWitness, testWitness } from "../../support/audit/test-log.ts";
import { waitFor } from "../../support/index.ts";
import { type AuditService, intent, requestId, startAudit } from "./bed.ts";
import { verifierKeyOf, writeKeyFile, writeSigningKey } from "./proof-bed.ts";

export const ORIGIN = "audit.example.com/log";
export const WITNESS = "witness.example.com/w1";
export const SOON = { timeoutMs: 60_000 };

/** A witness in AUDIT_WITNESSES_FILE. */
export interface Entry {
  name: string;
  url: string;
  key: string;
}

/** Writes a new signing key for the service. Returns its file and the verifier key of the log. */
export function newLog() {
  const keyFile = writeSigningKey();
  return { keyFile, verifierKey: verifierKeyOf(keyFile, ORIGIN) };
}

/** Starts an honest witness for a new log. Returns the key file for the service, and the witness. */
export function witnessedLog() {
  return { keyFile: writeSigningKey(), entry: startHonest() };
}

/**
 * Starts a witness that cosigns a tree only if it continues the last one, as C2SP tlog-witness says. It keeps its
 * state in memory and does not check who signed the tree.
 */
function startHonest(): Entry {
  let last = { size: 0, root: EMPTY_ROOT };
  const entry = startFake(WITNESS, (body, witness) => {
    const end = body.indexOf("\n\n");
    const [old = "", ...proof] = body.slice(0, end).split("\n");
    const text = readNote(body.slice(end + 2))?.text ?? "";
    const head = readTreeHead(text);
    if (head === null) return new Response(null, { status: 400 });
    if (old !== `old ${last.size}`) return new Response(`${last.size}\n`, { status: 409 });
    const path = proof.map((line) => Uint8Array.fromBase64(line));
    if (!isConsistent(last, head, path)) return new Response(null, { status: 422 });
    last = head;
    return new Response(witness.line(text));
  });
  return { ...entry, name: "w1" };
}

export async function startWitnessed(
  keyFile: string,
  witnesses: readonly Entry[],
  { databaseUrl, quorum = 1, clock }: { databaseUrl?: string; quorum?: number; clock?: Clock } = {},
): Promise<AuditService & { log(): string }> {
  const logFile = writeKeyFile("");
  const audit = await startAudit({
    ...(clock !== undefined && { clock }),
    ...(databaseUrl !== undefined && { databaseUrl }),
    env: {
      SEAL_INTERVAL_MS: "50",
      AUDIT_SIGNING_KEY_FILE: keyFile,
      AUDIT_LOG_ORIGIN: ORIGIN,
      AUDIT_WITNESSES_FILE: writeKeyFile(JSON.stringify({ witnesses })),
      AUDIT_WITNESS_QUORUM: String(quorum),
      AUDIT_WITNESS_INTERVAL_MS: "100",
      AUDIT_STREAM_ALLOW_HTTP: "true",
      AUDIT_STREAM_ALLOWED_NETWORKS: "127.0.0.0/8",
      AUDIT_STREAM_ALLOWED_PORTS: witnesses.map(({ url }) => new URL(url).port).join(","),
      LOG_FILE: logFile,
    },
  });
  atTestEnd(() => audit.stop());
  return { ...audit, log: () => readFileSync(logFile, "utf8") };
}

export async function write(audit: AuditService): Promise<void> {
  expect((await audit.put(requestId(), intent())).status).toBe(201);
}

/** Returns the signed root that the service serves, or null if it has none yet. */
export async function servedRoot(audit: AuditService) {
  const response = await audit.get("/audit-log/checkpoint");
  if (response.status === 404) return null;
  const note = readNote(await response.text());
  if (note === null) throw new Error("The served root is not a note.");
  return { ...note, size: Number(note.text.split("\n")[1]) };
}

/** Waits until the service serves a root of at least this size with a cosignature of the witness. */
export function cosigned(audit: AuditService, { key }: Entry, size = 1) {
  const witness = readNoteKey(key);
  if (witness === null) throw new Error("The key of the witness cannot be read.");
  return waitFor(async () => {
    const root = await servedRoot(audit);
    if (root === null || root.size < size) return null;
    const [found] = await knownSignatures(root, [witness]);
    return found?.isRight ? root : null;
  }, SOON);
}

/** Starts a server in place of a witness. `respond` returns the response to each add-checkpoint request. */
export function startFake(
  name: string,
  respond: (body: string, witness: TestWitness) => Response | Promise<Response>,
): Entry {
  const witness = testWitness(name);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 120,
    fetch: async (request) => respond(await request.text(), witness),
  });
  atTestEnd(() => server.stop(true));
  return { name, url: `http://127.0.0.1:${server.port}`, key: witness.key };
}

/** Returns environment variables that configure one witness, at the origin of this URL. */
export function witnessVariables(url: string) {
  const witnesses = [{ name: "witness", url: new URL(url).origin, key: testWitness("witness").key }];
  return { AUDIT_WITNESSES_FILE: writeKeyFile(JSON.stringify({ witnesses })) };
}
