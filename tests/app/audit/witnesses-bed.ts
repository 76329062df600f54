import { expect } from "bun:test";
import { createPrivateKey, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Clock } from "@ostiary/lib/async";
import { EMPTY_ROOT, isConsistent, readNote, readTreeHead } from "@ostiary/lib/domain/tlog";
import { atTestEnd } from "../../support/at-test-end.ts";
import {
  keyId,
  publicBytes,
  type TestWitness,
  testWitness,
  verifierKeyText,
} from "../../support/audit/test-log.ts";
import { waitFor } from "../../support/index.ts";
import { type AuditService, intent, requestId, startAudit } from "./audit-service.ts";
import { writeKeyFile, writeSigningKey } from "./proof-bed.ts";

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
  const publicKey = publicBytes(createPrivateKey(readFileSync(keyFile, "utf8")));
  return { keyFile, verifierKey: verifierKeyText(ORIGIN, 1, publicKey) };
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

interface Root {
  size: number;
  text: string;
  signatures: string[];
}

/** Returns the signed root that the service serves, or null if it has none yet. */
export async function servedRoot(audit: AuditService): Promise<Root | null> {
  const response = await audit.get("/audit-log/checkpoint");
  if (response.status === 404) return null;
  const note = await response.text();
  const end = note.lastIndexOf("\n\n");
  const text = note.slice(0, end + 1);
  return {
    size: Number(text.split("\n")[1]),
    text,
    signatures: note
      .slice(end + 2)
      .trimEnd()
      .split("\n"),
  };
}

/** Waits until the service serves a root of at least this size with a cosignature of the witness. */
export function cosigned(audit: AuditService, { key }: Entry, size = 1): Promise<Root> {
  return waitFor(async () => {
    const root = await servedRoot(audit);
    const isCosigned = root?.signatures.some((line) => cosignedAt(line, root.text, key) !== null);
    return isCosigned && root !== null && root.size >= size ? root : null;
  }, SOON);
}

/**
 * Returns the time of a cosignature in seconds, or null if `line` is not a valid cosignature of `text` by this
 * key.
 */
function cosignedAt(line: string, text: string, verifier_key: string): number | null {
  // The last part is base64 and can contain plus signs, so the text is not split at them.
  const [, name = "", material = ""] = /^([^+]+)\+[^+]+\+(.+)$/.exec(verifier_key) ?? [];
  const publicKey = Buffer.from(material, "base64").subarray(1);
  const bytes = Buffer.from(line.replace(`— ${name} `, ""), "base64");
  if (!line.startsWith(`— ${name} `) || !bytes.subarray(0, 4).equals(keyId(name, 4, publicKey))) return null;
  const timeS = Number(bytes.readBigUInt64BE(4));
  const message = Buffer.from(`cosignature/v1\ntime ${timeS}\n${text}`);
  const jwk = { kty: "OKP", crv: "Ed25519", x: publicKey.toString("base64url") };
  const isRight = verify(null, message, createPublicKey({ key: jwk, format: "jwk" }), bytes.subarray(12));
  return isRight ? timeS : null;
}

/** Starts a server in place of a witness. `answer` responds to each add-checkpoint request. */
export function startFake(
  name: string,
  answer: (body: string, witness: TestWitness) => Response | Promise<Response>,
): Entry {
  const witness = testWitness(name);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 120,
    fetch: async (request) => answer(await request.text(), witness),
  });
  atTestEnd(() => server.stop(true));
  return { name, url: `http://127.0.0.1:${server.port}`, key: witness.key };
}

/** Returns environment variables that configure one witness, at the origin of this URL. */
export function witnessVariables(url: string) {
  const witnesses = [{ name: "witness", url: new URL(url).origin, key: testWitness("witness").key }];
  return { AUDIT_WITNESSES_FILE: writeKeyFile(JSON.stringify({ witnesses })) };
}
