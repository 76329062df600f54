import { type Clock, unstalledClock } from "@ostiary/lib/async";
import { json } from "./bed.ts";

export const HOUR_MS = 3_600_000;

/** A wall clock that stands still until the test moves it. Timers and elapsed time are those of `unstalledClock`. */
export class StandingClock implements Clock {
  nowMs: number;

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  now(): number {
    return this.nowMs;
  }

  elapsedMs = unstalledClock.elapsedMs;
  after = unstalledClock.after;
}

/** Returns one item of a report's `counts`, with `changes` applied. */
export function usageCount(organization_id: string, hour: string, changes: Record<string, unknown> = {}) {
  return {
    organization_id,
    hour,
    service: "widgets",
    route: "/org/widgets/{widget_id}",
    method: "GET",
    member_id: "member-1",
    key_prefix: "ostiary-k-2-abcd",
    requests: 10,
    refused: { limit: 3, labels: 2, other: 1 },
    failed: 1,
    bytes_in: 100,
    bytes_out: 2_000,
    duration_ms: 50,
    ...changes,
  };
}

let reports = 0;

/** Reports counts as a new gateway instance. Throws unless the service counts them. */
export async function reportUsage(
  internalUrl: string,
  counts: unknown[],
  reported_until: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const response = await fetch(`${internalUrl}/internal/usage/gateway-${process.pid}-${++reports}/1`, {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ reported_until, is_last: false, uncounted: 0, counts }),
  });
  if (response.status !== 201) throw new Error(JSON.stringify(await json(response)));
}
