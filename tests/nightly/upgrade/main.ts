/** Replaces one version by another one under load, and back: `bun run nightly upgrade [FROM [TO]]`. */
import { RunImpossible } from "../../support/run-impossible.ts";
import { argumentsOf, progress, runCommand } from "../faults/command.ts";
import { lastRelease, sourceOf } from "./releases.ts";
import { runUpgrade } from "./run.ts";

await runCommand(async () => {
  const [from = lastRelease(), to, ...more] = argumentsOf({}, true).positionals;
  if (more.length > 0) throw new RunImpossible("upgrade takes at most two commits: FROM and TO.");
  if (from === undefined) progress("there is no release yet: this source is replaced by itself");
  const roots = { from: await sourceOf(from), to: await sourceOf(to) };
  const broken = await runUpgrade(roots, progress);
  console.log(broken.length === 0 ? "Every promise held." : "Broken promises.");
  return broken;
});
