import { type CellRun, REPEAT_EXCUSED_MS } from "../record.ts";
import { at, type Promised } from "./promise.ts";

/** Whether a fault may have kept a replica from noting what a receiver accepted. */
function isUncertain({ cell, breaking_ms }: CellRun, at_ms: number): boolean {
  return cell.parts.some((part) => part === "audit" || part === "postgres") && at_ms >= breaking_ms;
}

/** A receiver proves by positions and chain values that nothing is missing, and that the order is kept. */
export const streamsLoseNothing: Promised = {
  name: "streams",
  title: "Audit streams deliver every entry in order, twice only after a fault of theirs.",
  timed: false,
  judge(run) {
    const { streams } = run;
    if (streams === null) return null;
    const repeated = streams.repeats
      .filter(({ at_ms, delay_ms }) => !isUncertain(run, at_ms) && delay_ms <= REPEAT_EXCUSED_MS)
      .map(({ at_ms }) => `entries came twice ${at(run, at_ms)}`);
    const missing = streams.missing.map((what) => `missing: ${what}`);
    return [...streams.problems, ...missing, ...repeated];
  },
};
