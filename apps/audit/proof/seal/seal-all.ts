import type { PassDeps } from "./pass-deps.ts";
import { recheckAltered } from "./recheck.ts";
import { sealPass } from "./seal-pass.ts";

/**
 * Seals all that is committed, and rechecks once the chains that were left out, as a job does while no service seals.
 */
export async function sealAll(deps: PassDeps): Promise<void> {
  let rechecks: ReturnType<typeof recheckAltered> | null = null;
  for (;;) {
    const { end, state } = await sealPass(deps);
    if (end !== "done") continue;
    rechecks ??= recheckAltered(deps, state);
    if ((await rechecks.next()).done) return;
  }
}
