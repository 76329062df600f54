import type { CellRun } from "../record.ts";
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

/** All promises, which every cell is judged by. */
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

/** The judgement of one promise in one cell. */
export interface Judgement {
  readonly promise: string;
  /** The ways in which it was broken. */
  readonly broken: readonly string[];
}

/** Judges each promise that a run says something about. `timed` includes promises about times. */
export function judge(run: CellRun, { timed }: { timed: boolean }): Judgement[] {
  return PROMISES.filter((promise) => timed || !promise.timed).flatMap((promise) => {
    const broken = promise.judge(run);
    return broken === null ? [] : [{ promise: promise.name, broken }];
  });
}
