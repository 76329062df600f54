import { type Environment, loadConfig } from "@ostiary/lib/runtime/config";
import { runJob } from "@ostiary/lib/runtime/service";
import { auditProgram } from "../../config.ts";
import { checkJobConfig, jobVariables, runOwnerJob } from "../owner-job.ts";
import { restartChain } from "./restart-chain.ts";
import { restartTree } from "./restart-tree.ts";

/** What `ostiary audit restart` declares: that one chain, or the whole tree, goes on although rows were lost. */
export type RestartOf = { owner: string } | { origin: string };

/** Runs `ostiary audit restart` as a process that reports what it declared and exits. */
export function runRestart(env: Environment, of: RestartOf): Promise<void> {
  return runJob(
    (say) => {
      const config = loadConfig(jobVariables, env, checkJobConfig);
      if ("origin" in of) {
        return runOwnerJob(
          config,
          async (deps) => {
            await restartTree(deps);
            await say(
              `The log has a new tree with the name ${of.origin}. Set AUDIT_LOG_ORIGIN=${of.origin} and restart the service.\n`,
            );
          },
          of.origin,
        );
      }
      return runOwnerJob(config, async (deps) => {
        const { from, to } = await restartChain(deps, of.owner);
        const lost = from > to ? "No position is given up" : `The positions ${from} to ${to} are given up`;
        await say(
          `The log of ${of.owner} continues after position ${to}. ${lost}; every later export says so.\n`,
        );
      });
    },
    { program: auditProgram, env },
  );
}
