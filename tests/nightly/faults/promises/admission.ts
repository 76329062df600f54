import type { CellRun } from "../cell-run.ts";
import { at, type Promised } from "./promise.ts";

export const neverAWrongAdmission: Promised = {
  name: "admission",
  title: "No invalid credential is admitted, and no caller reaches another owner's data.",
  timed: false,
  judge(run: CellRun) {
    const admitted = run.answers
      .filter(({ client, status }) => client === "refused" && status !== null && status < 300)
      .map(({ status, startedMs }) => `an invalid credential got ${status} ${at(run, startedMs)}`);
    const reached = run.reached
      .filter(({ client }) => client === "refused")
      .map(({ request_id }) => `a request with an invalid credential reached the service: ${request_id}`);
    const foreign = run.reached
      .filter(({ owner, caller }) => owner !== caller)
      .map(({ request_id, owner, caller }) => `${caller} reached data of ${owner}: ${request_id}`);
    return [...admitted, ...reached, ...foreign];
  },
};
