import { readNote, readTreeHead } from "@ostiary/lib/domain/tlog";
import { waitFor } from "../../../support/time/wait-for.ts";
import type { ServiceProcess } from "../measure/service-bed.ts";
import type { AuditBed } from "./bed.ts";
import { exampleIntent } from "./example-intent.ts";

/** The replica that seals, and the replica that takes over when the sealing replica dies. */
interface Replicas {
  readonly sealer: ServiceProcess;
  readonly other: ServiceProcess;
}

/**
 * Kills the sealing replica while events are written, and repeats this `times` times. Returns the seconds
 * from each kill to the first signed root of the other replica.
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

/** Writes events for the replica to seal, and waits for their signed root. */
async function sealedOnce(audit: ServiceProcess): Promise<void> {
  const before = await newestSize(audit);
  await write(audit);
  await nextRoot(audit, before);
}

async function takeover({ sealer, other }: Replicas): Promise<number> {
  let writing = true;
  const writer = (async () => {
    while (writing) await write(other);
  })();
  process.kill(sealer.pid, "SIGKILL");
  const before = await newestSize(other);
  const diedMs = performance.now();
  await nextRoot(other, before);
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

/** Returns the size of the newest signed root, or 0 if there is none. */
async function newestSize({ url }: ServiceProcess): Promise<number> {
  const response = await fetch(`${url}/audit-log/checkpoint`);
  const note = readNote(await response.text());
  return readTreeHead(note?.text ?? "")?.size ?? 0;
}

async function nextRoot(audit: ServiceProcess, before: number): Promise<void> {
  await waitFor(async () => (await newestSize(audit)) > before, {
    what: "a signed root",
    timeoutMs: 60_000,
  });
}
