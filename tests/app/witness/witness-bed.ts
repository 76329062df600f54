import { createPublicKey, verify } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { type Running, serve } from "@ostiary/lib/runtime/service";
import { wireWitness } from "@ostiary/witness";
import { witnessVariables } from "@ostiary/witness/config";
import { initWitness } from "@ostiary/witness/init";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { keyId, type TestLog } from "../../support/test-log.ts";

export const WITNESS = "witness.example.com/w1";

/** The files of a witness. They stay when the witness stops. */
export interface WitnessFiles {
  folder: string;
  /** The environment variables with which the witness starts. */
  env: Record<string, string>;
  verifier_key: string;
  /** Returns the content of the state file. */
  state(): Promise<{ verifier_key: string; logs: { origin: string; size: number; root: string }[] }>;
}

/** Initializes a new witness that knows these logs. */
export async function newWitness(
  logs: readonly Pick<TestLog, "origin" | "verifier_key">[],
): Promise<WitnessFiles> {
  const folder = temporaryFolder("witness");
  const env = {
    WITNESS_NAME: WITNESS,
    WITNESS_KEY_FILE: join(folder, "key.pem"),
    WITNESS_STATE_FILE: join(folder, "state.json"),
    WITNESS_LOGS_FILE: join(folder, "logs.yaml"),
    LOG_FILE: join(folder, "log"),
  };
  const known = logs.map(({ origin, verifier_key }) => ({ origin, keys: [verifier_key] }));
  await writeFile(env.WITNESS_LOGS_FILE, JSON.stringify({ logs: known }));
  return {
    folder,
    env,
    verifier_key: await initWitness(env),
    state: async () => JSON.parse(await readFile(env.WITNESS_STATE_FILE, "utf8")),
  };
}

type CallBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** A witness that runs in this process. */
export interface RunningWitness extends AsyncDisposable {
  url: string;
  add(body: CallBody): Promise<{ status: number; type: string | null; text: string }>;
  internal(path: string): Promise<Response>;
}

export async function startWitness({ env }: Pick<WitnessFiles, "env">): Promise<RunningWitness> {
  const config = loadConfig(witnessVariables, { HOST: "127.0.0.1", PORT: "0", INTERNAL_PORT: "0", ...env });
  const running: Running = await serve(await wireWitness(config), config);
  const url = `http://127.0.0.1:${running.port}`;
  return {
    url,
    add: (body) => addCheckpoint(url, body),
    internal: (path) => fetch(`http://127.0.0.1:${running.internal_port}${path}`),
    [Symbol.asyncDispose]: () => running.shutdown(),
  };
}

export async function addCheckpoint(
  url: string,
  body: CallBody,
): Promise<{ status: number; type: string | null; text: string }> {
  const response = await fetch(`${url}/add-checkpoint`, { method: "POST", body });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

/**
 * Returns the time of a cosignature in seconds, or null if `line` is not a valid cosignature of `text` by this
 * key.
 */
export function cosignedAt(line: string, text: string, verifier_key: string): number | null {
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
