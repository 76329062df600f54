import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { fits, systemErrorCode } from "@ostiary/lib/domain/errors";
import { parseIJson, tryJson } from "@ostiary/lib/domain/json";
import { type Static, Type } from "@sinclair/typebox";

/** The newest tree head of a log that the witness cosigned. */
const CosignedHead = Type.Object(
  {
    origin: Type.String({ minLength: 1 }),
    size: Type.Integer({ minimum: 0 }),
    /** The root of the tree, in base64. */
    root: Type.String({ pattern: "^[A-Za-z0-9+/]{43}=$" }),
  },
  { additionalProperties: false },
);
export type CosignedHead = Static<typeof CosignedHead>;

const stateSchema = Type.Object(
  {
    version: Type.Literal(1),
    /** The verifier key of the witness that the state belongs to. */
    verifier_key: Type.String(),
    logs: Type.Array(CosignedHead),
  },
  { additionalProperties: false },
);

/** The stored state of a witness. */
export interface WitnessState {
  verifier_key: string;
  /** The newest cosigned head of each log, by origin. */
  logs: ReadonlyMap<string, CosignedHead>;
}

/** The error for a state file that is missing, that cannot be read, or that contains something else. */
export class NotAState extends Error {
  readonly problem: "missing" | "unreadable" | "other";

  constructor(problem: NotAState["problem"]) {
    super(`The state of the witness is ${problem}.`);
    this.name = "NotAState";
    this.problem = problem;
  }
}

/**
 * Reads the state of a witness.
 *
 * @throws NotAState
 */
export async function readState(path: string): Promise<WitnessState> {
  const value = tryJson(await textOf(path), parseIJson);
  if (!fits(stateSchema, value)) throw new NotAState("other");
  const logs = new Map(value.logs.map((head) => [head.origin, head]));
  if (logs.size < value.logs.length) throw new NotAState("other");
  return { verifier_key: value.verifier_key, logs };
}

/** Replaces the state atomically, and resolves once it is durable. A crash leaves the old state or the new one. */
export async function writeState(path: string, state: WitnessState): Promise<void> {
  await writeDurably(`${path}.new`, textOfState(state), "w");
  await rename(`${path}.new`, path);
  await syncFolderOf(path);
}

/** Creates the state of a new witness. Rejects with `EEXIST` if the file exists. */
export async function createState(path: string, verifier_key: string): Promise<void> {
  await createFile(path, textOfState({ verifier_key, logs: new Map() }));
}

/** Creates, durably, a file that only its owner may read. Rejects with `EEXIST` if the file exists. */
export async function createFile(path: string, text: string): Promise<void> {
  await writeDurably(path, text, "wx");
  await syncFolderOf(path);
}

function textOfState({ verifier_key, logs }: WitnessState): string {
  return `${JSON.stringify({ version: 1, verifier_key, logs: [...logs.values()] }, null, 2)}\n`;
}

async function writeDurably(path: string, text: string, flags: "w" | "wx"): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the folder entry of a new or renamed file durable. */
async function syncFolderOf(path: string): Promise<void> {
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new NotAState(systemErrorCode(error) === "ENOENT" ? "missing" : "unreadable");
  }
}
