import { join } from "node:path";
import { type Mutation, mutated } from "./choose.ts";
import { runFiles } from "./run-files.ts";
import { STAGES, type Stage } from "./stages.ts";

/** Where a mutation was found, and by which file. Without a stage it survived. */
export interface Result {
  readonly mutation: Mutation;
  readonly stage: Stage | null;
  readonly file: string | null;
}

/**
 * Runs the tests of each stage on the mutated copy, up to the first failure. A failure counts only if the
 * same file passes without the mutation and fails with it again, because a busy machine may fail a test too.
 */
export async function tryMutation(
  root: string,
  mutation: Mutation,
  stages: Readonly<Record<Stage, readonly string[]>>,
): Promise<Result> {
  const path = join(root, mutation.path);
  const unsound = new Set<string>();
  const failureOf = async (files: readonly string[]) => {
    await Bun.write(path, mutated(mutation));
    return runFiles(root, files).finally(() => Bun.write(path, mutation.source));
  };
  for (const stage of STAGES) {
    for (;;) {
      const files = stages[stage].filter((file) => !unsound.has(file));
      const failed = await failureOf(files);
      if (failed === null) break;
      const isFound = (await runFiles(root, [failed])) === null && (await failureOf([failed])) !== null;
      if (isFound) return { mutation, stage, file: failed };
      console.error(`${failed} does not fail by the mutation alone`);
      unsound.add(failed);
    }
  }
  return { mutation, stage: null, file: null };
}
