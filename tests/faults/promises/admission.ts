import type { CellRun } from "../record.ts";
import { at, type Promised } from "./promise.ts";

/** Revoked, unknown and foreign credentials never pass, and no caller reaches another owner's data. */
export const neverAWrongAdmission: Promised = {
  name: "admission",
  title: "Nobody is admitted wrongly, and nobody reaches what is another's.",
  timed: false,
  judge(run: CellRun) {
    const admitted = run.answers
      .filter(({ client, status }) => client === "refused" && status !== null && status < 300)
      .map(({ status, started_ms }) => `an invalid credential got ${status} ${at(run, started_ms)}`);
    const reached = run.reached
      .filter(({ client }) => client === "refused")
      .map(({ request_id }) => `a request without a credential reached the service: ${request_id}`);
    const foreign = run.reached
      .filter(({ owner, caller }) => owner !== caller)
      .map(({ request_id, owner, caller }) => `${caller} reached what is of ${owner}: ${request_id}`);
    return [...admitted, ...reached, ...foreign];
  },
};
