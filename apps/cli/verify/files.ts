import { readBounded } from "@ostiary/lib/async";
import { systemErrorCode } from "@ostiary/lib/domain/errors";
import { tryUtf8 } from "@ostiary/lib/domain/json";
import {
  linesOf as decodedLines,
  type KeptRoot,
  NotKeys,
  NotLines,
  readKeptRoot,
  readWitnessKeys,
  type WitnessRule,
} from "@ostiary/lib/verification";
import { UsageError } from "../exit-codes.ts";

/** Yields the lines of a file, or of standard input for `-`, as they are read. */
export async function* linesOf(path: string): AsyncGenerator<string, void, void> {
  try {
    yield* decodedLines((await source(path)).stream());
  } catch (error) {
    throw usageErrorOf(error, path);
  }
}

async function source(path: string): Promise<{ stream(): AsyncIterable<Uint8Array> }> {
  if (path === "-") return Bun.stdin;
  const file = Bun.file(path);
  try {
    if (!(await file.stat()).isDirectory()) return file;
  } catch {
    throw new UsageError(`${path} cannot be read: check the path and the permissions of the file.`);
  }
  throw new UsageError(`${path} is a folder: name a file.`);
}

/** Reads a signed root, or the one in an export with proof. */
export async function readRoot(path: string): Promise<KeptRoot> {
  const root = await source(path)
    .then((file) => readKeptRoot(path, file.stream()))
    .catch((error: unknown) => {
      throw usageErrorOf(error, path);
    });
  if (root !== null) return root;
  throw new UsageError(
    `${path} is neither a signed root nor an export with one: save the response of GET /audit-log/checkpoint.`,
  );
}

/** The size limit of a file with verifier keys. */
const TEXT_BYTES_MAX = 1_048_576;

/** Reads the witnesses of a file. The default quorum is the number of keys. */
export async function readWitnesses(path: string, quorum: number | undefined): Promise<WitnessRule> {
  const tooLong = () => new UsageError(`${path} has more than ${TEXT_BYTES_MAX} bytes.`);
  const bytes = await readBounded((await source(path)).stream(), TEXT_BYTES_MAX, tooLong);
  const keys = keysIn(path, tryUtf8(bytes, "keep") ?? "");
  if (quorum === undefined || quorum <= keys.length) {
    return { keys, quorum: quorum ?? keys.length, nowMs: Date.now() };
  }
  throw new UsageError(
    `--quorum is ${quorum}, but ${path} has ${keys.length} keys: lower --quorum, or add keys.`,
  );
}

function keysIn(path: string, text: string): WitnessRule["keys"] {
  try {
    return readWitnessKeys(text);
  } catch (error) {
    if (!(error instanceof NotKeys)) throw error;
    throw new UsageError(`${path}${error.line === 0 ? "" : ` line ${error.line}`} ${error.message}.`);
  }
}

function usageErrorOf(error: unknown, path: string): unknown {
  if (systemErrorCode(error) !== null) return new UsageError(`${path} cannot be read as a file.`);
  if (!(error instanceof NotLines)) return error;
  return new UsageError(
    error.problem === "not_utf8"
      ? `${path} is not text in UTF-8.`
      : `${path} has a line that is too long for an export.`,
  );
}
