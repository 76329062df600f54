import { readBounded } from "@ostiary/lib/async";
import { fits } from "@ostiary/lib/domain/errors";
import { parseIJson, tryJson, tryUtf8 } from "@ostiary/lib/domain/json";
import { SigningJwk } from "@ostiary/lib/domain/proof";
import {
  linesOf as decodedLines,
  type KeptCopies,
  type KeptFile,
  NotKeptCopies,
  NotLines,
  readKept as readKeptFile,
} from "@ostiary/lib/verification";
import { Type } from "@sinclair/typebox";
import { UsageError } from "../exit-codes.ts";

/** Yields the lines of a file, or of standard input for `-`, as they are read. */
export async function* linesOf(path: string, signal: AbortSignal): AsyncGenerator<string, void, void> {
  try {
    yield* decodedLines((await source(path)).stream(), signal);
  } catch (error) {
    throw usageErrorOf(error, path);
  }
}

async function source(path: string): Promise<KeptFile> {
  return path === "-" ? Bun.stdin : existing(path);
}

async function existing(path: string): Promise<Bun.BunFile> {
  const file = Bun.file(path);
  try {
    if (!(await file.stat()).isDirectory()) return file;
  } catch {
    throw new UsageError(`${path} cannot be read: check the path and the permissions of the file.`);
  }
  throw new UsageError(`${path} is a folder: name a file.`);
}

/** The size limit of a file that is read as one text. */
const TEXT_BYTES_MAX = 1_048_576;

/** Reads a short text from a file, or from standard input for `-`. */
export async function textOf(path: string): Promise<string> {
  const tooLong = () => new UsageError(`${path} has more than ${TEXT_BYTES_MAX} bytes.`);
  const bytes = await readBounded((await source(path)).stream(), TEXT_BYTES_MAX, tooLong);
  const text = tryUtf8(bytes, "keep");
  if (text === undefined) throw new UsageError(`${path} ${PROBLEM_TEXTS.not_utf8}`);
  return text;
}

const keySet = Type.Object({ keys: Type.Array(SigningJwk) });

/** Reads a JSON Web Key Set, as `/.well-known/jwks.json` of the audit service returns it. */
export async function readKeys(path: string): Promise<SigningJwk[]> {
  const value = tryJson(await (await existing(path)).text(), parseIJson);
  if (fits(keySet, value)) return value.keys;
  throw new UsageError(
    `${path} is not a key set of an audit service: fetch /.well-known/jwks.json of the audit service.`,
  );
}

/** Reads the checkpoints or the export with proof that a user kept. */
export async function readKept(path: string): Promise<KeptCopies> {
  try {
    return await readKeptFile(await source(path));
  } catch (error) {
    throw usageErrorOf(error, path);
  }
}

const PROBLEM_TEXTS = {
  line_too_long: "has a line that is too long for an export.",
  not_utf8: "is not text in UTF-8.",
  cut_off: "lacks its last line, which ends the proof: make the export again.",
  empty: "contains no checkpoint.",
  other: "contains neither checkpoints nor an export.",
} as const;

function usageErrorOf(error: unknown, path: string): unknown {
  if (!(error instanceof NotLines || error instanceof NotKeptCopies)) return error;
  return new UsageError(`${path} ${PROBLEM_TEXTS[error.problem]}`);
}
