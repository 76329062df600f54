import { rename } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { withoutTrailingSlashes } from "@ostiary/lib/domain/routes";
import { type NoteKey, noteKeyText } from "@ostiary/lib/domain/tlog";
import { type Command, InvalidArgumentError } from "commander";
import { Refused, Undecided, UsageError } from "../exit-codes.ts";
import { Output } from "../output.ts";
import { onOneLine, type Terminal } from "../terminal.ts";
import { readRoot } from "../verify/files.ts";
import { followTree } from "../watch/follow-tree.ts";
import { LogTree, NoResponse } from "../watch/log-tree.ts";
import { keyArgument, timeoutArgument } from "./command.ts";

interface WatchOptions {
  state: string;
  key?: readonly NoteKey[];
  interval: number;
  once?: true;
}

const INTERVAL_S = 60;
const URL_TEXT = "the base URL of the server that serves GET /audit-log/checkpoint";

/** Adds `audit watch URL`, which fails if a log was set back or rewritten, and `audit key URL`. */
export function addAuditWatch(program: Command, audit: Command, terminal: Terminal): void {
  audit
    .command("key")
    .description("Print the verifier keys with which a log signs: name+hash+key")
    .argument("<url>", URL_TEXT, urlArgument)
    .action((url: string) => showKeys(new Output(terminal, program.opts().json === true), url));
  audit
    .command("watch")
    .description("Keep the newest signed root of an audit log, and fail if the log was set back")
    .argument("<url>", URL_TEXT, urlArgument)
    .requiredOption("--state <file>", "the file that keeps the newest root, which verify accepts as --root")
    .option(
      "--key <vkey...>",
      "the verifier key that must sign (default: the keys that the log serves)",
      keyArgument,
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
  $ ${program.name()} audit watch https://api.example.com --state root.txt --key audit.example.com/log+b1cea59d+A…
  $ ${program.name()} audit watch https://api.example.com --state root.txt --once   # from cron

Exit codes: 0 the log only grew, 1 the log was set back or rewritten, 2 wrong usage or an unreadable file, 4 no response`,
    )
    .action((url: string, options: WatchOptions) =>
      watch(new Output(terminal, program.opts().json === true), terminal, new LogTree(url), options),
    );
}

function urlArgument(text: string): string {
  const url = URL.parse(text);
  const isRight = url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
  if (!isRight) throw new InvalidArgumentError("Give an http:// or https:// URL without a query.");
  return withoutTrailingSlashes(text);
}

async function showKeys(output: Output, url: string): Promise<void> {
  const keys = (await new LogTree(url).keys().catch(undecidedFor)).map(noteKeyText);
  output.result({ keys }, () => {
    for (const key of keys) output.line(key);
  });
}

function undecidedFor(error: unknown): never {
  throw error instanceof NoResponse ? new Undecided(error.message) : error;
}

async function watch(
  output: Output,
  terminal: Terminal,
  tree: LogTree,
  options: WatchOptions,
): Promise<void> {
  for (;;) {
    await checkTree(output, tree, options).catch((error: unknown) => {
      if (options.once || !(error instanceof NoResponse)) undecidedFor(error);
      terminal.writeError(`${onOneLine(error.message)}\n`);
    });
    if (options.once) return;
    await setTimeout(options.interval * 1_000);
  }
}

/** Checks that the tree of a log extends the kept one, and keeps the newest root. */
async function checkTree(output: Output, tree: LogTree, { state, key }: WatchOptions): Promise<void> {
  const kept = (await Bun.file(state).exists()) ? await readRoot(state) : null;
  const { text, head, problem } = await followTree(tree, kept, key ?? (await tree.keys()));
  if (problem !== null) {
    await writeWhole(`${state}.conflict`, text);
    throw new Refused(`${problem} The root that shows it is in ${state}.conflict.`);
  }
  await writeWhole(state, text);
  const { origin, size } = head;
  output.result({ origin, size, kept_size: kept?.head.size ?? null }, () => {
    const since =
      kept === null ? "kept as the first root" : `continues the kept root of size ${kept.head.size}`;
    output.line(`The root of ${origin} of size ${size}: ${since}.`);
  });
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
