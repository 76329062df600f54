import type { Counted } from "../cell-run.ts";
import type { Client } from "../clients.ts";
import { LIMITS } from "../clients.ts";
import { type Caller, type Callers, NOBODY } from "../system/people.ts";

export interface Request {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly caller: Caller;
  readonly bucket?: string;
}

/** The kinds of clients that send single requests; the others keep streams open or publish. */
export type Asking = Exclude<Client, "stream" | "publish">;

const ANYBODY: Caller = { ...NOBODY, headers: {} };

/** Returns request number `turn` of a client, or null if all single-use keys are used. */
export function requestOf(client: Asking, callers: Callers, turn: number): Request | null {
  const key = pick(callers.keys, turn);
  switch (client) {
    case "public":
      return get(client, "/things/public", ANYBODY);
    case "limited":
      return { ...get(client, "/things/limited", key), bucket: key.member_id ?? "" };
    case "jwt":
      return get(client, "/things/me", pick(callers.tokens, turn));
    case "cached":
      return get(client, "/things/cached", key);
    case "unseen": {
      const caller = callers.unseen.pop();
      return caller === undefined ? null : get(client, "/things/cached", caller);
    }
    case "audited":
      return { ...get(client, "/things", key), method: "POST" };
    case "refused": {
      const caller = pick(callers.refused, turn)();
      return get(client, "authorization" in caller.headers ? "/things/me" : "/things/cached", caller);
    }
  }
}

/**
 * Returns a GET request. Its query names client and caller, so that the service's record shows who called.
 */
export function get(client: Client, path: string, caller: Caller): Request {
  const whose = caller.organization_id ?? caller.user_id ?? "";
  const query = new URLSearchParams({ client, whose, member: caller.member_id ?? "" });
  return { method: "GET", path: `${path}?${query}`, caller };
}

function pick<T>(of: readonly T[], turn: number): T {
  const picked = of[turn % of.length];
  if (picked === undefined) throw new Error("The clients have no credentials of this kind.");
  return picked;
}

/** Sends a request. The status is null if the client gets no complete response before its timeout. */
export async function send(
  url: string,
  { method, path, caller, bucket }: Request,
): Promise<{ status: number | null; counted?: Counted }> {
  const signal = AbortSignal.timeout(LIMITS.patienceMs);
  try {
    const response = await fetch(url + path, { method, headers: caller.headers, signal, redirect: "manual" });
    await response.arrayBuffer();
    return { status: response.status, ...countedIn(response, bucket) };
  } catch {
    return { status: null };
  }
}

function countedIn({ headers }: Response, bucket: string | undefined): { counted?: Counted } {
  const [remaining, reset] = [headers.get("x-ratelimit-remaining"), headers.get("x-ratelimit-reset")];
  if (bucket === undefined || remaining === null || reset === null) return {};
  return { counted: { bucket, remaining: Number(remaining), resetS: Number(reset) } };
}
