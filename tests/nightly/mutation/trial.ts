import { join } from "node:path";
import { type Mutation, mutated } from "./choose.ts";
import { STAGES, type Stage } from "./stages.ts";

/** Where a mutation was found, and by which file. Without a stage it survived. */
export interface Result {
  readonly mutation: Mutation;
  readonly stage: Stage | null;
  readonly file: string | null;
}

/** A run that takes longer than this hangs, which a person would notice too. */
const HANGS_MS = 1_200_000;
const HEADER = /^(tests\/\S+\.test\.ts):$/;

/**
 * Runs the tests of each stage on the mutated copy, up to the first failure. A failure counts only if the
 * same file passes on the copy without the mutation.
 */
export async function tryMutation(
  root: string,
  mutation: Mutation,
  stages: Readonly<Record<Stage, readonly string[]>>,
): Promise<Result> {
  const path = join(root, mutation.path);
  const unsound = new Set<string>();
  for (const stage of STAGES) {
    for (;;) {
      const files = stages[stage].filter((file) => !unsound.has(file));
      await Bun.write(path, mutated(mutation));
      const failed = await firstFailure(root, files).finally(() => Bun.write(path, mutation.source));
      if (failed === null) break;
      if (await isSound(root, failed)) return { mutation, stage, file: failed };
      console.error(`${failed} fails without the mutation too`);
      unsound.add(failed);
    }
  }
  return { mutation, stage: null, file: null };
}

/** Returns whether a file passes without a mutation. A busy machine may stop it once, so it has two attempts. */
async function isSound(root: string, file: string): Promise<boolean> {
  return (await firstFailure(root, [file])) === null || (await firstFailure(root, [file])) === null;
}

/** Runs test files. Returns the first that failed, or null if all passed. */
async function firstFailure(root: string, files: readonly string[]): Promise<string | null> {
  const [first] = files;
  if (first === undefined) return null;
  const tests = Bun.spawn(
    [process.execPath, "test", "--bail", "--path-ignore-patterns=-", ...files.map((file) => `./${file}`)],
    { cwd: root, stdin: "ignore", stdout: "ignore", stderr: "pipe", timeout: HANGS_MS },
  );
  const [told, exitCode] = await Promise.all([tests.stderr.text(), tests.exited]);
  if (exitCode === 0) return null;
  let file = first;
  for (const line of told.split("\n")) {
    file = line.match(HEADER)?.[1] ?? file;
    if (line.startsWith("(fail)")) break;
  }
  return file;
}
