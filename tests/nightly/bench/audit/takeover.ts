import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { waitFor } from "../../../support/time/wait-for.ts";
import type { ServiceProcess } from "../measure/service-bed.ts";
import type { AuditBed } from "./bed.ts";
import { exampleIntent } from "./example-intent.ts";

const Newest = Type.Object({ audit_checkpoints: Type.Array(Type.Object({ number: Type.Integer() })) });

/** The replica that seals, and the replica that takes over when the sealing replica dies. */
interface Replicas {
  readonly sealer: ServiceProcess;
  readonly other: ServiceProcess;
}

/**
 * Kills the sealing replica while events are written, and repeats this `times` times. Returns the seconds
 * from each kill to the first checkpoint of the other replica.
 */
export async function takeovers(bed: AuditBed, databaseUrl: string, times: number): Promise<number[]> {
  const taken: number[] = [];
  let sealer = await bed.service(databaseUrl);
  await sealedOnce(sealer);
  for (let n = 0; n < times; n++) {
    const other = await bed.service(databaseUrl);
    taken.push(await takeover({ sealer, other }));
    sealer = other;
  }
  return taken;
}

/** Writes events for the replica to seal, and waits for their checkpoint. */
async function sealedOnce(audit: ServiceProcess): Promise<void> {
  const before = await newestCheckpoint(audit);
  await write(audit);
  await nextCheckpoint(audit, before);
}

async function takeover({ sealer, other }: Replicas): Promise<number> {
  let writing = true;
  const writer = (async () => {
    while (writing) await write(other);
  })();
  process.kill(sealer.pid, "SIGKILL");
  const before = await newestCheckpoint(other);
  const diedMs = performance.now();
  await nextCheckpoint(other, before);
  const takenMs = performance.now() - diedMs;
  writing = false;
  await writer;
  return takenMs / 1000;
}

async function write({ internalUrl }: ServiceProcess): Promise<void> {
  const address = `${internalUrl}/internal/events/${crypto.randomUUID()}`;
  const response = await fetch(address, {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(exampleIntent),
  });
  if (!response.ok) throw new Error(`The audit service answered an intent with ${response.status}.`);
}

/** Returns the number of the newest checkpoint, or 0 if there is none. */
async function newestCheckpoint({ url }: ServiceProcess): Promise<number> {
  const response = await fetch(`${url}/audit-checkpoints?limit=1`);
  return Value.Parse(Newest, await response.json()).audit_checkpoints[0]?.number ?? 0;
}

async function nextCheckpoint(audit: ServiceProcess, before: number): Promise<void> {
  await waitFor(async () => (await newestCheckpoint(audit)) > before, {
    what: "a checkpoint",
    timeoutMs: 60_000,
  });
}
