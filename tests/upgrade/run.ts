import { withBed } from "../faults/run.ts";
import { type Bed, type Pace, runChange } from "../faults/run-cell.ts";
import { answerOf, type Replica, type Stop } from "../faults/system/replica.ts";
import type { Progress } from "../faults/system/system.ts";
import { waitFor } from "../support/wait-for.ts";
import { releaseOf, rootsOf } from "./checkout.ts";
import { brokenIn, type Closing, lineOf } from "./judge.ts";
import { Novelties } from "./novelties.ts";
import type { Leg, Part } from "./orders.ts";
import { RELEASES, WORKING_TREE } from "./releases.ts";
import { brokenProof } from "./verify-log.ts";

/** A run of upgrades and downgrades. */
export interface Upgrade {
  /** The version that all services start with. */
  readonly from: string;
  readonly legs: readonly Leg[];
  readonly pace: Pace;
}

/**
 * The grace period of stopping services: longer than load balancers need to notice that a replica is not
 * ready.
 */
const GRACE_MS = 1_500;
/**
 * The shutdown timeout is longer than any single request, but short, because release 0.1.0 waits for open
 * event streams until the timeout expires.
 */
const VARIABLES = { SHUTDOWN_GRACE_MS: String(GRACE_MS), SHUTDOWN_TIMEOUT_MS: "4000" };
const READY_MS = 120_000;
/** The cell of a step. It has no failed parts, so its fault has no meaning. */
const NO_FAULT = { parts: [], fault: "killed" } as const;

/**
 * Replaces all replicas of all services one by one under load, for each leg of the run. Returns a description
 * of each violation.
 *
 * @throws RunImpossible if a version or a store is missing on this machine
 */
export async function runUpgrade(upgrade: Upgrade, progress: Progress): Promise<string[]> {
  const { from, legs, pace } = upgrade;
  const roots = await rootsOf([from, ...legs.map(({ to }) => to)], progress);
  const rootTo = (version: string) => roots.get(version) ?? "";
  const work = async (bed: Bed) => {
    const broken: string[] = [];
    const novelties = new Novelties(bed.system);
    let version = from;
    for (const leg of legs) {
      if (!leg.isForward) await novelties.beforeGoingBack(leg.to);
      for (const part of leg.parts) {
        const { run, stops } = await replaceAll(bed, part, rootTo(leg.to), pace);
        const step = { order: leg.name, part, run, losing: losingOf(version, stops) };
        progress(lineOf(step));
        broken.push(...brokenIn(step).map((how) => `${leg.name}, ${part}: ${how}`));
      }
      version = leg.to;
      const after = [...(await novelties.brokenIn(version)), ...(await brokenProofs(bed, version))];
      broken.push(...after.map((how) => `${leg.name}: ${how}`));
    }
    broken.push(...(await brokenAtTheEnd(bed, { version, newest: rootTo(newestOf(roots)) })));
    return broken;
  };
  return withBed(progress, work, { roots: [rootTo(from), rootTo(from)], variables: VARIABLES });
}

/** Returns the newest of the versions that are the keys of the map. */
function newestOf(versions: ReadonlyMap<string, string>): string {
  const known = [...RELEASES.map(({ version }) => version), WORKING_TREE];
  return known.findLast((version) => versions.has(version)) ?? WORKING_TREE;
}

/**
 * Returns the intervals in which stopping processes may lose requests. Empty for a version that drains all
 * requests.
 */
function losingOf(version: string, stops: readonly Stop[]): readonly Closing[] {
  if (releaseOf(version)?.drainsAll ?? true) return [];
  return stops.map(({ signalledMs, endedMs }) => ({
    beginsMs: signalledMs + GRACE_MS,
    endsMs: endedMs,
  }));
}

/**
 * Replaces the replicas of one service in sequence. Before it replaces the next replica, waits until the new one is
 * ready and the load balancers have noticed it.
 */
async function replaceAll(bed: Bed, part: Part, root: string, pace: Pace) {
  const stops: Stop[] = [];
  const replace = async () => {
    for (const replica of replicasOf(bed, part)) {
      stops.push(await replica.replaceBy(root));
      await waitFor(async () => (await answerOf(`${replica.internalUrl}/health/ready`)) === 200, {
        timeoutMs: READY_MS,
        what: `the readiness of ${replica.name}`,
      });
      await bed.system.noticed(replica);
    }
  };
  return { run: await runChange(bed, NO_FAULT, { begin: replace, end: async () => {} }, pace), stops };
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

/** Returns whether a version can seal and prove a log that any other version sealed before. */
function provesLog(version: string): boolean {
  return releaseOf(version)?.continuesProof ?? true;
}

/** Describes how proofs of the organizations' logs fail. Returns nothing if the version cannot prove them. */
async function brokenProofs({ system }: Bed, version: string): Promise<string[]> {
  if (!provesLog(version)) return [];
  const { keys } = await system.people.callers(0);
  const proofs = keys.map(({ organization_id }) => brokenProof(system, organization_id ?? ""));
  return (await Promise.all(proofs)).flat();
}

/** Upgrades audit if the run ends with a version that cannot prove the log. Describes how proofs then fail. */
async function brokenAtTheEnd(
  bed: Bed,
  { version, newest }: { version: string; newest: string },
): Promise<string[]> {
  if (provesLog(version)) return [];
  for (const replica of bed.system.audit) await replica.replaceBy(newest);
  const broken = await brokenProofs(bed, WORKING_TREE);
  return broken.map((how) => `forward again: ${how}`);
}
