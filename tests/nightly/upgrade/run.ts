import { waitFor } from "../../support/time/wait-for.ts";
import { withBed } from "../faults/run.ts";
import { type Bed, type Pace, runChange } from "../faults/run-cell.ts";
import { type Replica, statusOf } from "../faults/system/replica.ts";
import type { Progress } from "../faults/system/system.ts";
import { brokenIn, lineOf } from "./judge.ts";
import { ORDERS, type Part } from "./orders.ts";
import { brokenProof } from "./verify-log.ts";

const PACE: Pace = { beforeMs: 1_000, faultMs: 0, wellMs: 1_500, healMsMax: 15_000 };
/**
 * The grace period of stopping services: longer than load balancers need to notice that a replica is not
 * ready.
 */
const GRACE_MS = 1_500;
/** The shutdown timeout is longer than any single request. */
const VARIABLES = { SHUTDOWN_GRACE_MS: String(GRACE_MS), SHUTDOWN_TIMEOUT_MS: "4000" };
const READY_MS = 120_000;
/** The cell of a step. It has no failed parts, so its fault has no meaning. */
const NO_FAULT = { parts: [], fault: "killed" } as const;

/**
 * Replaces all replicas of all services one by one under load, in each order. With one source in place of two
 * versions, this is a rolling restart, for which one order is enough. Returns a description of each violation.
 *
 * @param roots the source folders of the two versions
 * @throws RunImpossible if a store is missing on this machine
 */
export async function runUpgrade(
  roots: { readonly from: string; readonly to: string },
  progress: Progress,
): Promise<string[]> {
  const work = async (bed: Bed) => {
    const broken: string[] = [];
    for (const { name, parts, isForward } of roots.from === roots.to ? ORDERS.slice(0, 1) : ORDERS) {
      for (const part of parts) {
        const run = await replaceAll(bed, part, isForward ? roots.to : roots.from);
        const step = { order: name, part, run };
        progress(lineOf(step));
        broken.push(...brokenIn(step).map((how) => `${name}, ${part}: ${how}`));
      }
      broken.push(...(await brokenProofs(bed)).map((how) => `${name}: ${how}`));
    }
    return broken;
  };
  return withBed(progress, work, { roots: [roots.from, roots.from], variables: VARIABLES });
}

/**
 * Replaces the replicas of one service in sequence. Before it replaces the next replica, waits until the new one is
 * ready and the load balancers have noticed it.
 */
async function replaceAll(bed: Bed, part: Part, root: string) {
  const replace = async () => {
    for (const replica of replicasOf(bed, part)) {
      await replica.replaceBy(root);
      await waitFor(async () => (await statusOf(`${replica.internalUrl}/health/ready`)) === 200, {
        timeoutMs: READY_MS,
        what: `the readiness of ${replica.name}`,
      });
      await bed.system.noticed(replica);
    }
  };
  return await runChange(bed, NO_FAULT, { begin: replace, end: async () => {} }, PACE);
}

function replicasOf({ system }: Bed, part: Part): readonly Replica[] {
  switch (part) {
    case "gateway":
      return system.gateways;
    case "registry":
      return system.registries;
    case "identity":
    case "audit":
      return system[part];
  }
}

async function brokenProofs({ system }: Bed): Promise<string[]> {
  const { keys } = await system.people.callers(0);
  const proofs = keys.map(({ organization_id }) => brokenProof(system, organization_id ?? ""));
  return (await Promise.all(proofs)).flat();
}
