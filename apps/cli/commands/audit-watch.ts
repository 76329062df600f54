import { rename } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { type Checkpoint, readCheckpoint, type SigningJwk } from "@ostiary/lib/domain/proof";
import { withoutTrailingSlashes } from "@ostiary/lib/domain/routes";
import { type Command, InvalidArgumentError } from "commander";
import { Interrupted, Refused, Undecided, UsageError } from "../exit-codes.ts";
import { Output } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { readKept, readKeys } from "../verify/files.ts";
import { CheckpointList } from "../watch/checkpoint-list.ts";
import { followCheckpoints } from "../watch/follow-checkpoints.ts";
import { followTree, readRoot, type SignedRoot } from "../watch/follow-tree.ts";
import { LogTree } from "../watch/log-tree.ts";
import { NoResponse } from "../watch/read-log.ts";
import { timeoutArgument } from "./command.ts";

interface WatchOptions {
  state: string;
  keys?: string;
  interval: number;
  once?: true;
}

const INTERVAL_S = 60;

/** Adds `audit watch URL`, which follows the checkpoints of a log and fails if the log shrinks or is rewritten. */
export function addAuditWatch(program: Command, audit: Command, terminal: Terminal): void {
  audit
    .command("watch")
    .description("Follow the checkpoints of an audit log, and fail if the log shrinks or is rewritten")
    .argument("<url>", "the base URL of the server that serves GET /audit-checkpoints", urlArgument)
    .requiredOption(
      "--state <file>",
      "the file that keeps the newest checkpoint, which verify accepts as --checkpoint",
    )
    .option(
      "--keys <file>",
      "a file with the JWKS that must sign checkpoints (default: the JWKS that the log serves)",
    )
    .option(
      "--interval <seconds>",
      `the pause between two checks (default ${INTERVAL_S})`,
      timeoutArgument,
      INTERVAL_S,
    )
    .option("--once", "check once, and exit")
    .addHelpText(
      "after",
      `
Examples:
  $ bun cli audit watch https://api.example.com --state checkpoint.json --keys jwks.json
  $ bun cli audit watch https://api.example.com --state checkpoint.json --once   # from cron

Exit codes: 0 the log only grew, 1 the log shrank or was rewritten, 2 wrong usage or an unreadable file, 4 no response`,
    )
    .action((url: string, options: WatchOptions) =>
      watch({ output: new Output(terminal, program.opts().json === true), terminal }, url, options),
    );
}

function urlArgument(text: string): string {
  const url = URL.parse(text);
  const isRight = url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
  if (!isRight) throw new InvalidArgumentError("Give an http:// or https:// URL without a query.");
  return withoutTrailingSlashes(text);
}

interface Tools {
  output: Output;
  terminal: Terminal;
}

async function watch({ output, terminal }: Tools, url: string, options: WatchOptions): Promise<void> {
  const trusted = options.keys === undefined ? null : await readKeys(options.keys);
  const log = { list: new CheckpointList(url), tree: new LogTree(url) };
  for (;;) {
    try {
      await look(output, log, { ...options, trusted });
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      if (options.once) throw new Undecided(error.message);
      terminal.writeError(`${error.message}\n`);
    }
    if (options.once) return;
    await setTimeout(options.interval * 1_000, undefined, { signal: terminal.interruption }).catch(() => {
      throw new Interrupted();
    });
  }
}

async function look(
  output: Output,
  { list, tree }: { list: CheckpointList; tree: LogTree },
  { state, trusted }: { state: string; trusted: readonly SigningJwk[] | null },
): Promise<void> {
  const kept = await keptIn(state);
  const keys = trusted ?? (await list.keys());
  const { newest, later, problem, evidence } = await followCheckpoints(list.newestFirst(), kept, keys);
  if (problem !== null) {
    const shown = evidence === null ? "" : ` The checkpoint that proves the problem is in ${state}.conflict.`;
    if (evidence !== null) await writeWhole(`${state}.conflict`, `${JSON.stringify(evidence)}\n`);
    throw new Refused(`${problem}${shown}`);
  }
  const root = await lookAtTree(tree, state, newest, keys);
  if (newest !== null) await writeWhole(state, `${JSON.stringify(newest)}\n`);
  output.result({ checkpoint: newest, later, tree_size: root?.head.size ?? null }, () => {
    output.line(
      newest === null
        ? "The log has no checkpoint yet."
        : `Checkpoint ${newest.number} of ${newest.sealed_at}: ${kept === null ? "kept as the first one" : `${later} after the kept one, each linked to its predecessor`}.`,
    );
    if (root !== null) output.line(`The tree of ${root.head.size} checkpoints extends the kept tree.`);
  });
}

/** Checks that the tree of a log extends the kept root, and keeps the newest root. */
async function lookAtTree(
  tree: LogTree,
  state: string,
  newest: Checkpoint | null,
  keys: readonly SigningJwk[],
): Promise<SignedRoot | null> {
  const file = `${state}.root`;
  const isKept = await Bun.file(file).exists();
  const kept = isKept ? readRoot(await Bun.file(file).bytes()) : null;
  if (isKept && kept === null)
    throw new UsageError(`${file} is not a signed root: restore the file from a copy.`);
  const { root, problem, evidence } = await followTree(tree, kept, newest, keys);
  if (problem !== null) {
    if (evidence !== null) await writeWhole(`${file}.conflict`, evidence.note);
    throw new Refused(`${problem} The root that proves the problem is in ${file}.conflict.`);
  }
  if (root !== null) await writeWhole(file, root.note);
  return root;
}

/** Returns the newest checkpoint in the file `state`, or null if the file does not exist yet. */
async function keptIn(state: string): Promise<Checkpoint | null> {
  if (!(await Bun.file(state).exists())) return null;
  const { checkpoints } = await readKept(state);
  const [kept] = checkpoints.toSorted((a, b) => b.number - a.number);
  if (kept === undefined)
    throw new UsageError(
      `${state} contains no checkpoint: restore the file, or name another one with --state.`,
    );
  const read = kept.jws === null ? kept : readCheckpoint(kept.jws);
  if (read === null)
    throw new UsageError(
      `${state} contains no readable checkpoint: restore the file, or name another one with --state.`,
    );
  return read;
}

/** Writes a file atomically: a process that dies leaves the old file or the new one. */
async function writeWhole(path: string, text: string): Promise<void> {
  try {
    await Bun.write(`${path}.new`, text);
    await rename(`${path}.new`, path);
  } catch {
    throw new UsageError(`${path} cannot be written: check its folder and permissions.`);
  }
}
