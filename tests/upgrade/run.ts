import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withBed } from "../faults/run.ts";
import { type Bed, type Pace, runChange } from "../faults/run-cell.ts";
import { answerOf, type Replica } from "../faults/system/replica.ts";
import type { Leash } from "../support/leash.ts";
import { waitFor } from "../support/wait-for.ts";
import { rootOf } from "./checkout.ts";
import { brokenIn, lineOf } from "./judge.ts";
import type { Order, Part } from "./orders.ts";
import { RELEASES } from "./releases.ts";
import { brokenProof } from "./verify-log.ts";

export type Progress = (line: string) => void;

/** The two versions of a run, and how it goes from one to the other. */
export interface Upgrade {
  readonly from: string;
  readonly to: string;
  readonly orders: readonly Order[];
  readonly pace: Pace;
}

/** Longer than balancers need to notice that a replica is not ready. */
const VARIABLES = { SHUTDOWN_GRACE_MS: "1500" };
const READY_MS = 120_000;
/** A step breaks no part. */
const NO_FAULT = { parts: [], fault: "killed" } as const;
/** The first release proves nothing of its log. */
const [WITHOUT_PROOF] = RELEASES;

/**
 * Replaces every replica of every service under load, one after the other, in each order. Returns how the
 * promises were broken.
 *
 * @throws RunImpossible when a version or a store is missing here
 */
export async function runUpgrade(leash: Leash, upgrade: Upgrade, progress: Progress): Promise<string[]> {
  const scratch = await mkdtemp(join(tmpdir(), "ostiary-upgrade-"));
  leash.directory(scratch);
  progress(`preparing ${upgrade.from} and ${upgrade.to}`);
  const from = await rootOf(upgrade.from, scratch);
  const to = await rootOf(upgrade.to, scratch);
  const work = async (bed: Bed) => {
    const broken: string[] = [];
    for (const order of upgrade.orders) {
      const root = order.isForward ? to : from;
      for (const part of order.parts) {
        const step = { order: order.name, part, run: await replaceAll(bed, part, root, upgrade.pace) };
        progress(lineOf(step));
        broken.push(...brokenIn(step).map((how) => `${order.name}, ${part}: ${how}`));
      }
      const version = order.isForward ? upgrade.to : upgrade.from;
      broken.push(...(await brokenAfter(bed, version)).map((how) => `${order.name}: ${how}`));
    }
    return broken;
  };
  return withBed(leash, progress, work, { root: from, variables: VARIABLES });
}

/** Replaces the replicas of one service one after the other, each when the one before is ready. */
function replaceAll(bed: Bed, part: Part, root: string, pace: Pace) {
  const replace = async () => {
    for (const replica of replicasOf(bed, part)) {
      await replica.replaceBy(root);
      await waitFor(async () => (await answerOf(`${replica.internal_url}/health/ready`)) === 200, {
        timeout_ms: READY_MS,
        what: `${replica.name} that is ready`,
      });
      await Bun.sleep(SEEN_MS);
    }
  };
  return runChange(bed, NO_FAULT, { begin: replace, end: async () => {} }, pace);
}

/** The time in which balancers notice that a replica is ready. */
const SEEN_MS = 700;

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

/** Returns what is wrong once all services have one version. */
async function brokenAfter({ system }: Bed, version: string): Promise<string[]> {
  if (version === WITHOUT_PROOF.version) return [];
  const { keys } = await system.people.callers(0);
  const proofs = keys.map(({ organization_id }) => brokenProof(system, organization_id ?? ""));
  return (await Promise.all(proofs)).flat();
}
