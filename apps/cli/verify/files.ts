import { proofEndSchema } from "@ostiary/lib/contracts/audit";
import { fits } from "@ostiary/lib/domain/errors";
import { isRecord } from "@ostiary/lib/domain/json";
import { Checkpoint, readCheckpoint, SigningJwk } from "@ostiary/lib/domain/proof";
import { Type } from "@sinclair/typebox";
import { UsageError } from "../errors.ts";
import type { KeptCopies } from "./checkpoints-check.ts";

/** A line is an event of some kilobytes, or the end of a proof. */
const LINE_LENGTH_MAX = 64 * 1024 * 1024;
/** The end of an export that was kept is looked for in so much of its end. */
const TAIL_BYTES = LINE_LENGTH_MAX;

/** The lines of a file, or of standard input for `-`, as they are read. */
export async function* linesOf(path: string, signal: AbortSignal): AsyncGenerator<string, void, void> {
  let rest = "";
  for await (const text of textOf(path)) {
    if (signal.aborted) return;
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    if (rest.length > LINE_LENGTH_MAX)
      throw new UsageError(`${path} has a line that is too long for an export.`);
    yield* parts;
  }
  if (rest !== "") yield rest;
}

async function* textOf(path: string): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  const source = path === "-" ? Bun.stdin.stream() : (await existing(path)).stream();
  for await (const bytes of source) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

async function existing(path: string): Promise<Bun.BunFile> {
  const file = Bun.file(path);
  try {
    if (!(await file.stat()).isDirectory()) return file;
  } catch {
    throw new UsageError(`${path} can not be read.`);
  }
  throw new UsageError(`${path} is a folder.`);
}

const keySet = Type.Object({ keys: Type.Array(SigningJwk) });

/** The keys of a JSON Web Key Set, as `/.well-known/jwks.json` of the audit service gives it. */
export async function readKeys(path: string): Promise<SigningJwk[]> {
  const value = jsonOf(await (await existing(path)).text());
  if (fits(keySet, value)) return value.keys;
  throw new UsageError(
    `${path} is not a key set of an audit service, as its /.well-known/jwks.json gives it.`,
  );
}

const checkpointPage = Type.Object({ audit_checkpoints: Type.Array(Checkpoint) });

/**
 * What was kept of a log: checkpoints (one, a list, pages of `GET /audit-checkpoints`, or their JWS, a line each),
 * or an export with proof, of which the last line counts.
 */
export async function readKept(path: string): Promise<KeptCopies> {
  const file = await existing(path);
  const tail = await file.slice(Math.max(0, file.size - TAIL_BYTES)).text();
  const lines = tail.split("\n").filter((line) => line.trim() !== "");
  const end = jsonOf(lines.at(-1) ?? "");
  if (fits(proofEndSchema, end)) return { checkpoints: [], end };
  const whole = checkpointsOf(jsonOf(tail));
  const checkpoints =
    whole ?? lines.flatMap((line) => checkpointsOf(jsonOf(line)) ?? textCheckpoint(path, line));
  if (checkpoints.length === 0) throw new UsageError(`${path} holds no checkpoint.`);
  return { checkpoints, end: null };
}

function checkpointsOf(value: unknown): Checkpoint[] | null {
  if (fits(Checkpoint, value)) return [value];
  if (fits(Type.Array(Checkpoint), value)) return value;
  if (isRecord(value) && fits(checkpointPage, value)) return value.audit_checkpoints;
  return null;
}

function textCheckpoint(path: string, line: string): Checkpoint[] {
  const checkpoint = readCheckpoint(line.trim());
  if (checkpoint === null)
    throw new UsageError(`${path} holds something else than checkpoints or an export.`);
  return [checkpoint];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
