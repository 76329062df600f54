import type { CellRun } from "../cell-run.ts";
import { at, type Promised } from "./promise.ts";

/** Returns whether a fault may have prevented audit from storing that a receiver accepted a delivery. */
function isUncertain({ cell, breakingMs }: CellRun, atMs: number): boolean {
  return cell.parts.some((part) => part === "audit" || part === "postgres") && atMs >= breakingMs;
}

export const streamsLoseNothing: Promised = {
  name: "streams",
  title:
    "Audit streams deliver every entry in order, and repeat entries only after a fault of audit or PostgreSQL.",
  timed: false,
  judge(run) {
    const { streams } = run;
    if (streams === null) return null;
    const repeated = streams.repeatsMs
      .filter((atMs) => !isUncertain(run, atMs))
      .map((atMs) => `entries were delivered again ${at(run, atMs)}`);
    const missing = streams.missing.map((what) => `missing: ${what}`);
    return [...streams.problems, ...missing, ...repeated];
  },
};
