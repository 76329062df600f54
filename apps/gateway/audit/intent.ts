import { type Clock, pause, systemClock } from "@ostiary/lib/async";
import { type AuditIntent, type IdentifiedIntent, USER_AGENT_LENGTH_MAX } from "@ostiary/lib/contracts/audit";
import type { CompiledRoute } from "@ostiary/lib/domain/routes";
import type { Principal } from "../admission/principal.ts";
import type { IntentCalls, IntentTry } from "./intent-calls.ts";

interface AuditedRequest {
  readonly route: Pick<CompiledRoute, "service" | "scope" | "method" | "path" | "params">;
  /** The values of the route's params, in the order of the params. */
  readonly values: readonly string[];
  readonly principal: Principal;
  readonly ip: string;
  readonly user_agent: string | null;
  /** The time at which the request arrived, in epoch milliseconds. */
  readonly receivedAtMs: number;
}

/**
 * Returns the intent of a request: for the person's log on a user route, otherwise for the organization's log
 * (GW-136).
 */
export function intentOf(request: AuditedRequest): AuditIntent {
  const { route, principal } = request;
  const ofUser = route.scope === "user";
  return {
    occurred_at: new Date(request.receivedAtMs).toISOString(),
    organization_id: ofUser ? null : principal.organization_id,
    user_id: ofUser ? principal.user_id : null,
    actor: {
      member_id: ofUser ? null : principal.member_id,
      auth_type: principal.auth_type,
      key_prefix: principal.key_prefix,
    },
    service: route.service,
    method: route.method,
    route: route.path,
    params: Object.fromEntries(route.params.map((name, index) => [name, request.values[index] ?? ""])),
    ip: request.ip,
    user_agent: request.user_agent === null ? null : request.user_agent.slice(0, USER_AGENT_LENGTH_MAX),
  };
}

/** The error for an intent that the audit service did not confirm. */
export class IntentUnwritten extends Error {
  /** Whether the intent may be stored although no response confirmed it. */
  readonly maybeWritten: boolean;
  /** The status of the response to the last attempt, or null if there was no response. */
  readonly status: number | null;

  constructor(reason: string, maybeWritten: boolean, status: number | null) {
    super(`The audit intent was not written: ${reason}.`);
    this.name = "IntentUnwritten";
    this.maybeWritten = maybeWritten;
    this.status = status;
  }
}

const ATTEMPTS = 3;
const TOTAL_MS = 1_000;
const FIRST_PAUSE_MS = 100;
const REFUSED = 422;

/**
 * Writes an intent with up to 3 attempts within 1 s (GW-138). The first attempt may share a call with other
 * intents. All attempts send the same intent, which the audit service stores once.
 *
 * @throws IntentUnwritten if no attempt succeeds
 */
export async function writeIntent(
  calls: Pick<IntentCalls, "withOthers" | "alone">,
  intent: IdentifiedIntent,
  clock: Clock = systemClock,
): Promise<void> {
  const endMs = clock.elapsedMs() + TOTAL_MS;
  const timed = { intent, endMs };
  let tried = await calls.withOthers(timed);
  let maybeWritten = tried.maybeWritten;
  for (let attempt = 1; !isRecorded(tried); attempt++) {
    const pauseMs = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (1 + Math.random());
    const isLast = attempt === ATTEMPTS || clock.elapsedMs() + pauseMs >= endMs;
    if (isLast || tried.status === REFUSED) {
      throw new IntentUnwritten(tried.reason, maybeWritten, tried.status);
    }
    await pause(clock, pauseMs);
    tried = await calls.alone(timed);
    maybeWritten ||= tried.maybeWritten;
  }
}

function isRecorded({ status }: IntentTry): boolean {
  return status === 200 || status === 201;
}
