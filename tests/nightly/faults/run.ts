import { ROOT } from "../../support/root.ts";
import { AuditLog } from "./audit-log.ts";
import { Load } from "./load/load.ts";
import { StreamReceiver } from "./load/stream-receiver.ts";
import { ReachedRequests } from "./reached-requests.ts";
import { type Bed, newCallers } from "./run-cell.ts";
import { SchedulingDelay } from "./scheduling-delay.ts";
import { type Progress, type Services, System } from "./system/system.ts";

/** Starts the system and the load, and passes them to `work`. Stops both afterwards, even after an error. */
export async function withBed<T>(
  progress: Progress,
  work: (bed: Bed) => Promise<T>,
  services?: Services,
  clockLibrary: string | null = null,
): Promise<T> {
  // An upgrade passes `services`, and runs without audit streams.
  using streams = services === undefined ? await StreamReceiver.start() : null;
  const auditVariables = streams?.variables ?? {};
  const own: Services = { roots: [ROOT, ROOT], variables: {}, audit: auditVariables, clockLibrary };
  await using system = await System.start(progress, services ?? own);
  const [audit] = system.audit;
  if (audit !== undefined) await streams?.subscribe(audit.url, system.people.organizations);
  using delay = new SchedulingDelay(() => system.pids());
  await using log = new AuditLog(system.postgres.server.url);
  await using load = new Load(system, await newCallers(system));
  const reached = new ReachedRequests(system.reachedFile);
  return await work({ system, load, delay, reached, log, streams });
}
