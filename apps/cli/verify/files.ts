import { proofEndSchema } from "@ostiary/lib/contracts/audit";
import { fits } from "@ostiary/lib/domain/errors";
import { isRecord, parseIJson } from "@ostiary/lib/domain/json";
import { Checkpoint, readCheckpoint, SigningJwk } from "@ostiary/lib/domain/proof";
import { Type } from "@sinclair/typebox";
import { UsageError } from "../errors.ts";
import type { KeptCopies } from "./checkpoints-check.ts";

/**
 * The maximum number of characters in one line of an export. A line holds one event of some kilobytes, or the
 * end of a proof.
 */
const LINE_LENGTH_MAX = 64 * 1024 * 1024;

/** Yields the lines of a file, or of standard input for `-`, as they are read. */
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
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decoded = (bytes?: Uint8Array) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw new UsageError(`${path} is not text in UTF-8.`);
    }
  };
  const source = path === "-" ? Bun.stdin.stream() : (await existing(path)).stream();
  for await (const bytes of source) yield decoded(bytes);
  yield decoded();
}

async function existing(path: string): Promise<Bun.BunFile> {
  const file = Bun.file(path);
  try {
    if (!(await file.stat()).isDirectory()) return file;
  } catch {
    throw new UsageError(`${path} cannot be read.`);
  }
  throw new UsageError(`${path} is a folder.`);
}

const keySet = Type.Object({ keys: Type.Array(SigningJwk) });

/** Reads a JSON Web Key Set, as `/.well-known/jwks.json` of the audit service returns it. */
export async function readKeys(path: string): Promise<SigningJwk[]> {
  const value = jsonOf(await (await existing(path)).text());
  if (fits(keySet, value)) return value.keys;
  throw new UsageError(
    `${path} is not a key set of an audit service, as its /.well-known/jwks.json gives it.`,
  );
}

const checkpointPage = Type.Object({ audit_checkpoints: Type.Array(Checkpoint) });

/**
 * Reads the checkpoints or the export with proof that a user kept, line by line. Checkpoints are one, a list,
 * pages of `GET /audit-checkpoints`, or one JWS per line. Only the last line of an export counts.
 */
export async function readKept(path: string): Promise<KeptCopies> {
  const checkpoints: Checkpoint[] = [];
  let last = "";
  let isExport = false;
  for await (const line of linesOf(path, NEVER)) {
    if (line.trim() === "") continue;
    last = line;
    if (isExport) continue;
    const found = checkpointsOf(jsonOf(line)) ?? textCheckpoint(line);
    if (found !== null) checkpoints.push(...found);
    else if (checkpoints.length === 0 && isLineOfExport(jsonOf(line))) isExport = true;
    else return { checkpoints: await wholeDocument(path), end: null };
  }
  const end = isExport ? jsonOf(last) : null;
  if (fits(proofEndSchema, end)) return { checkpoints: [], end };
  if (isExport)
    throw new UsageError(`${path} is an export whose last line, which ends the proof, is missing.`);
  if (checkpoints.length === 0) throw new UsageError(`${path} holds no checkpoint.`);
  return { checkpoints, end: null };
}

const NEVER = new AbortController().signal;

function isLineOfExport(value: unknown): boolean {
  return isRecord(value) && ("proof" in value || "head" in value);
}

/** Reads checkpoints from one JSON text of several lines. */
async function wholeDocument(path: string): Promise<Checkpoint[]> {
  const file = await existing(path);
  const checkpoints = file.size > LINE_LENGTH_MAX ? null : checkpointsOf(jsonOf(await file.text()));
  if (checkpoints !== null) return checkpoints;
  throw new UsageError(`${path} holds neither checkpoints nor an export.`);
}

function checkpointsOf(value: unknown): Checkpoint[] | null {
  if (fits(Checkpoint, value)) return [value];
  if (fits(Type.Array(Checkpoint), value)) return value;
  if (isRecord(value) && fits(checkpointPage, value)) return value.audit_checkpoints;
  return null;
}

function textCheckpoint(line: string): Checkpoint[] | null {
  const checkpoint = readCheckpoint(line.trim());
  return checkpoint === null ? null : [checkpoint];
}

function jsonOf(text: string): unknown {
  try {
    return parseIJson(text);
  } catch {
    return null;
  }
}
