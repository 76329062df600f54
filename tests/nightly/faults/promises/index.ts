import type { CellRun } from "../cell-run.ts";
import { neverAWrongAdmission } from "./admission.ts";
import {
  everyRequestHasItsEvent,
  everyRequestHasItsOutcome,
  unrecordedIsRefused,
  unrecordedIsRefusedSoon,
} from "./audit.ts";
import { goesOnWithout } from "./goes-on.ts";
import { clocksCostNoRequest, nothingHangs, slownessCostsNoRequest } from "./hanging.ts";
import { everythingHeals } from "./healing.ts";
import { limitsAreExact, noLocalFallback, uncountedIsRefusedSoon } from "./limits.ts";
import type { Promised } from "./promise.ts";
import { streamsLoseNothing } from "./streams.ts";

/** All promises, in the order of the results. Every cell is checked against all of them. */
export const PROMISES: readonly Promised[] = [
  neverAWrongAdmission,
  limitsAreExact,
  noLocalFallback,
  uncountedIsRefusedSoon,
  ...goesOnWithout,
  unrecordedIsRefused,
  unrecordedIsRefusedSoon,
  everyRequestHasItsEvent,
  everyRequestHasItsOutcome,
  streamsLoseNothing,
  everythingHeals,
  nothingHangs,
  slownessCostsNoRequest,
  clocksCostNoRequest,
];

export interface Judgement {
  readonly promise: string;
  /** A description of each violation; empty if the promise was kept. */
  readonly broken: readonly string[];
}

/** Checks each promise that applies to the run. `timed` includes the promises about durations. */
export function judge(run: CellRun, { timed }: { timed: boolean }): Judgement[] {
  return PROMISES.filter((promise) => timed || !promise.timed).flatMap((promise) => {
    const broken = promise.judge(run);
    return broken === null ? [] : [{ promise: promise.name, broken }];
  });
}
