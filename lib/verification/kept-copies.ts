import { Type } from "@sinclair/typebox";
import { type ProofEnd, proofEndSchema } from "../contracts/audit/index.ts";
import { fits } from "../domain/errors/index.ts";
import { isRecord, parseIJson, tryJson } from "../domain/json/index.ts";
import { Checkpoint, readCheckpoint } from "../domain/proof/index.ts";
import { type Note, readNote, readTreeHead } from "../domain/tlog/index.ts";
import { LINE_LENGTH_MAX, linesOf } from "./export-lines.ts";

/** Parts of the log that the user kept: checkpoints, the last line of an export, and a signed root. */
export interface KeptCopies {
  checkpoints: readonly Checkpoint[];
  end: ProofEnd | null;
  /** A signed root of the tree of checkpoints. */
  note?: Note;
}

/** A file that can be read more than once, such as a `Blob`. */
export interface KeptFile {
  readonly size: number;
  text(): Promise<string>;
  stream(): AsyncIterable<Uint8Array>;
}

/**
 * The error for a file that has no copy of the log. `cut_off`: an export without its last line. `empty`: an empty file
 * or an empty list of checkpoints. `other`: content of another kind.
 */
export class NotKeptCopies extends Error {
  readonly problem: "cut_off" | "empty" | "other";

  constructor(problem: NotKeptCopies["problem"]) {
    super(`The file contains no copy of the log that can be compared: ${problem}.`);
    this.name = "NotKeptCopies";
    this.problem = problem;
  }
}

const checkpointPage = Type.Object({ audit_checkpoints: Type.Array(Checkpoint) });
const checkpointList = Type.Array(Checkpoint);

/**
 * Reads a file that the user kept: checkpoints, a signed root or an export with proof. Checkpoints can be one object,
 * a list, pages of `GET /audit-checkpoints`, or one JWS per line. Uses only the last line of an export.
 *
 * @throws NotKeptCopies, NotLines
 */
export async function readKept(file: KeptFile): Promise<KeptCopies> {
  const checkpoints: Checkpoint[] = [];
  let last = "";
  let isExport = false;
  for await (const line of linesOf(file.stream())) {
    if (line.trim() === "") continue;
    last = line;
    if (isExport) continue;
    const value = tryJson(line, parseIJson);
    const found = checkpointsOf(value) ?? textCheckpoint(line);
    if (found !== null) checkpoints.push(...found);
    else if (checkpoints.length === 0 && isLineOfExport(value)) isExport = true;
    else return wholeDocument(file);
  }
  const end = isExport ? tryJson(last, parseIJson) : null;
  if (fits(proofEndSchema, end)) return { checkpoints: [], end };
  if (isExport) throw new NotKeptCopies("cut_off");
  if (checkpoints.length === 0) throw new NotKeptCopies("empty");
  return { checkpoints, end: null };
}

function isLineOfExport(value: unknown): boolean {
  return isRecord(value) && ("proof" in value || "head" in value);
}

/** Reads a file as one text of several lines: checkpoints in JSON, or a signed root. */
async function wholeDocument(file: KeptFile): Promise<KeptCopies> {
  const text = file.size > LINE_LENGTH_MAX ? "" : await file.text();
  const note = readNote(text);
  if (note !== null && readTreeHead(note.text) !== null) return { checkpoints: [], end: null, note };
  const checkpoints = checkpointsOf(tryJson(text, parseIJson));
  if (checkpoints !== null) return { checkpoints, end: null };
  throw new NotKeptCopies("other");
}

function checkpointsOf(value: unknown): Checkpoint[] | null {
  if (fits(Checkpoint, value)) return [value];
  if (fits(checkpointList, value)) return value;
  if (isRecord(value) && fits(checkpointPage, value)) return value.audit_checkpoints;
  return null;
}

function textCheckpoint(line: string): Checkpoint[] | null {
  const checkpoint = readCheckpoint(line.trim());
  return checkpoint === null ? null : [checkpoint];
}
