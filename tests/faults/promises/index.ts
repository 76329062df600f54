import type { CellRun } from "../record.ts";
import { neverAWrongAdmission } from "./admission.ts";
import {
  everyRequestHasItsEvent,
  everyRequestHasItsOutcome,
  unrecordedIsRefused,
  unrecordedIsRefusedSoon,
} from "./audit.ts";
import { goesOnWithout } from "./goes-on.ts";
import { nothingHangs, slownessCostsNoRequest } from "./hanging.ts";
import { everythingHeals } from "./healing.ts";
import { limitsAreExact, noLocalFallback, uncountedIsRefusedSoon } from "./limits.ts";
import type { Promised } from "./promise.ts";

/** All that is promised of each cell. */
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
  everythingHeals,
  nothingHangs,
  slownessCostsNoRequest,
];

/** What a cell says of one promise. */
export interface Judgement {
  readonly promise: string;
  /** Ways in which it was broken. */
  readonly broken: readonly string[];
}

/** Judges each promise that a run says something about; `timed`: those that speak of times too. */
export function judge(run: CellRun, { timed }: { timed: boolean }): Judgement[] {
  return PROMISES.filter((promise) => timed || !promise.timed).flatMap((promise) => {
    const broken = promise.judge(run);
    return broken === null ? [] : [{ promise: promise.name, broken }];
  });
}
