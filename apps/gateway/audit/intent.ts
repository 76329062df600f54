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
  readonly received_at_ms: number;
}

/**
 * Returns the intent of a request: for the person's log on a user route, otherwise for the organization's log
 * (GW-136).
 */
export function intentOf(request: AuditedRequest): AuditIntent {
  const { route, principal } = request;
  const ofUser = route.scope === "user";
  return {
    occurred_at: new Date(request.received_at_ms).toISOString(),
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
  readonly maybe_written: boolean;
  /** The status of the response to the last attempt, or null if there was no response. */
  readonly status: number | null;

  constructor(reason: string, maybe_written: boolean, status: number | null) {
    super(`The audit intent was not written: ${reason}.`);
    this.name = "IntentUnwritten";
    this.maybe_written = maybe_written;
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
  const end_ms = clock.elapsed_ms() + TOTAL_MS;
  const timed = { intent, end_ms };
  let tried = await calls.withOthers(timed);
  let maybe_written = tried.maybe_written;
  for (let attempt = 1; !isRecorded(tried); attempt++) {
    const pause_ms = FIRST_PAUSE_MS * 2 ** (attempt - 1) * (1 + Math.random());
    const isLast = attempt === ATTEMPTS || clock.elapsed_ms() + pause_ms >= end_ms;
    if (isLast || tried.status === REFUSED) {
      throw new IntentUnwritten(tried.reason, maybe_written, tried.status);
    }
    await pause(clock, pause_ms);
    tried = await calls.alone(timed);
    maybe_written ||= tried.maybe_written;
  }
}

function isRecorded({ status }: IntentTry): boolean {
  return status === 200 || status === 201;
}
