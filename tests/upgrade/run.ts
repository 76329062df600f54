import { withBed } from "../faults/run.ts";
import { type Bed, type Pace, runChange } from "../faults/run-cell.ts";
import { answerOf, type Replica, type Stop } from "../faults/system/replica.ts";
import type { Leash } from "../support/clean-up-after-kill.ts";
import { waitFor } from "../support/wait-for.ts";
import { releaseOf, rootsOf } from "./checkout.ts";
import { brokenIn, type Closing, lineOf } from "./judge.ts";
import { Novelties } from "./novelties.ts";
import type { Leg, Part } from "./orders.ts";
import { RELEASES, WORKING_TREE } from "./releases.ts";
import { brokenProof } from "./verify-log.ts";

export type Progress = (line: string) => void;

/** A run: the version that it starts with, and where it goes from there. */
export interface Upgrade {
  readonly from: string;
  readonly legs: readonly Leg[];
  readonly pace: Pace;
}

/**
 * The grace is longer than balancers need to notice that a replica is not ready. The timeout is longer than any
 * request, since 0.1.0 waits for streams until then.
 */
const GRACE_MS = 1_500;
const VARIABLES = { SHUTDOWN_GRACE_MS: String(GRACE_MS), SHUTDOWN_TIMEOUT_MS: "4000" };
const READY_MS = 120_000;
/** A step breaks no part. */
const NO_FAULT = { parts: [], fault: "killed" } as const;
/**
 * Replaces every replica of every service under load, one after the other, leg by leg. Returns how the promises
 * were broken.
 *
 * @throws RunImpossible when a version or a store is missing here
 */
export async function runUpgrade(leash: Leash, upgrade: Upgrade, progress: Progress): Promise<string[]> {
  const { from, legs, pace } = upgrade;
  const roots = await rootsOf([from, ...legs.map(({ to }) => to)], leash, progress);
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
  return withBed(leash, progress, work, { roots: [rootTo(from), rootTo(from)], variables: VARIABLES });
}

/** Returns the newest of some versions. */
function newestOf(versions: ReadonlyMap<string, string>): string {
  const known = [...RELEASES.map(({ version }) => version), WORKING_TREE];
  return known.findLast((version) => versions.has(version)) ?? WORKING_TREE;
}

/** Returns the times in which processes of a version closed their ports; empty when it loses no request then. */
function losingOf(version: string, stops: readonly Stop[]): readonly Closing[] {
  if (releaseOf(version)?.drains_all ?? true) return [];
  return stops.map(({ signalled_ms, ended_ms }) => ({
    begins_ms: signalled_ms + GRACE_MS,
    ends_ms: ended_ms,
  }));
}

/** Replaces the replicas of one service one after the other, each when the one before is ready. */
async function replaceAll(bed: Bed, part: Part, root: string, pace: Pace) {
  const stops: Stop[] = [];
  const replace = async () => {
    for (const replica of replicasOf(bed, part)) {
      stops.push(await replica.replaceBy(root));
      await waitFor(async () => (await answerOf(`${replica.internal_url}/health/ready`)) === 200, {
        timeout_ms: READY_MS,
        what: `${replica.name} that is ready`,
      });
      await Bun.sleep(SEEN_MS);
    }
  };
  return { run: await runChange(bed, NO_FAULT, { begin: replace, end: async () => {} }, pace), stops };
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

/** Whether a version seals and proves the log, whatever sealed it before. */
function provesLog(version: string): boolean {
  return releaseOf(version)?.continues_proof ?? true;
}

/** Returns how the proofs of logs fail once all services have one version that proves them. */
async function brokenProofs({ system }: Bed, version: string): Promise<string[]> {
  if (!provesLog(version)) return [];
  const { keys } = await system.people.callers(0);
  const proofs = keys.map(({ organization_id }) => brokenProof(system, organization_id ?? ""));
  return (await Promise.all(proofs)).flat();
}

/** Returns how the proofs fail that the newest version gives of events that an older one wrote last. */
async function brokenAtTheEnd(
  bed: Bed,
  { version, newest }: { version: string; newest: string },
): Promise<string[]> {
  if (provesLog(version)) return [];
  for (const replica of bed.system.audit) await replica.replaceBy(newest);
  const broken = await brokenProofs(bed, WORKING_TREE);
  return broken.map((how) => `forward again: ${how}`);
}
