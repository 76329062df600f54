import type { Callers } from "./callers.ts";

/** One kind of request and its share, in percent. */
export interface Kind {
  readonly name: string;
  readonly share: number;
  readonly path: string;
  readonly method?: "PUT" | "POST";
  /** The credential of the request. Absent for a request without one. `stranger` sends a key that does not exist. */
  readonly as?: keyof Callers | "stranger";
}

/** The mix of a busy day: mostly reads, some audited writes, some streams and some refused requests. */
export const MIX: readonly Kind[] = [
  { name: "public", share: 27, path: "/demo/hello" },
  { name: "read", share: 28, path: "/demo/things/42", as: "reader" },
  { name: "person", share: 10, path: "/demo/me/notes/7", as: "person" },
  { name: "audited", share: 12, path: "/demo/things/42", method: "PUT", as: "session" },
  { name: "members", share: 4, path: "/org/members", as: "session" },
  { name: "log", share: 2, path: "/org/audit-events?limit=5", as: "session" },
  { name: "limited", share: 6, path: "/demo/burst", as: "session" },
  { name: "stream", share: 2, path: "/demo/events", as: "reader" },
  { name: "401", share: 3, path: "/demo/things/42", as: "stranger" },
  { name: "403", share: 4, path: "/demo/things/42", method: "PUT", as: "reader" },
  { name: "404", share: 2, path: "/nowhere" },
];

/** Returns the kind for a random `place` from 0 to 1. Each kind covers its share of this range. */
export function kindAt(place: number): Kind {
  let rest = place * MIX.reduce((sum, { share }) => sum + share, 0);
  for (const kind of MIX) {
    rest -= kind.share;
    if (rest < 0) return kind;
  }
  throw new RangeError(`${place} is not from 0 to 1.`);
}

export function headersOf({ as }: Kind, callers: Callers): Record<string, string> {
  if (as === undefined) return {};
  if (as === "person") return { Authorization: `Bearer ${callers.person}` };
  return { "X-API-Key": as === "stranger" ? unknownKey() : callers[as] };
}

/** Returns a new key for each request, so that no cache has it. */
function unknownKey(): string {
  return `ostiary-k-2-${crypto.randomUUID().replaceAll("-", "").padEnd(43, "x")}`;
}
