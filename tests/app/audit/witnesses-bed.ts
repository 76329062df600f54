import { expect } from "bun:test";
import { createPrivateKey } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Clock } from "@ostiary/lib/async";
import { atTestEnd } from "../../support/at-test-end.ts";
import { waitFor } from "../../support/index.ts";
import { publicBytes, type TestWitness, testWitness, verifierKeyText } from "../../support/test-log.ts";
import { cosignedAt, newWitness, startWitness } from "../witness/witness-bed.ts";
import { type AuditService, intent, requestId, startAudit } from "./audit-service.ts";
import { writeKeyFile, writeSigningKey } from "./proof-bed.ts";

export const ORIGIN = "audit.example.com/log";
export const SOON = { timeoutMs: 60_000 };

/** A witness in AUDIT_WITNESSES_FILE. */
export interface Entry {
  name: string;
  url: string;
  key: string;
}

/** Starts a witness that knows the key of a log. Returns the key file for the service, and the witness. */
export async function witnessedLog() {
  const keyFile = writeSigningKey();
  const publicKey = publicBytes(createPrivateKey(readFileSync(keyFile, "utf8")));
  const files = await newWitness([{ origin: ORIGIN, verifier_key: verifierKeyText(ORIGIN, 1, publicKey) }]);
  const witness = await startWitness(files);
  atTestEnd(() => witness[Symbol.asyncDispose]());
  const entry: Entry = { name: "w1", url: witness.url, key: files.verifier_key };
  return { keyFile, files, witness, entry };
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

/** Starts a witness that cosigns without checks. `answer` responds to each add-checkpoint request. */
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
