import { type Clock, systemClock } from "@ostiary/lib/async";
import { type AuditIntent, USER_AGENT_LENGTH_MAX } from "@ostiary/lib/contracts/audit";
import type { CompiledRoute } from "@ostiary/lib/domain/routes";
import type { Principal } from "../admission/principal.ts";
import { CallFailed } from "../upstream/bounded-call.ts";
import type { AuditClient } from "./client.ts";

export interface AuditedRequest {
  readonly route: Pick<CompiledRoute, "service" | "scope" | "method" | "path" | "params">;
  /** Values of the route's params, in their order. */
  readonly values: readonly string[];
  readonly principal: Principal;
  readonly ip: string;
  readonly user_agent: string | null;
  /** Epoch milliseconds of the request's arrival. */
  readonly received_at_ms: number;
}

/** The intent of a request: on a user route in the person's log, else in the organization's (Which log and when). */
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

/** The audit service did not confirm an intent. */
export class IntentUnwritten extends Error {
  /** Whether the intent may stand in the log all the same, because an answer was lost or unclear. */
  readonly maybe_written: boolean;
  /** The service's answer to the last attempt; null when there was none. */
  readonly status: number | null;

  constructor(reason: string, maybe_written: boolean, status: number | null) {
    super(`The audit intent was not written: ${reason}.`);
    this.name = "IntentUnwritten";
    this.maybe_written = maybe_written;
    this.status = status;
  }
}

const ATTEMPTS = 3;
const ATTEMPT_TIMEOUT_MS = 500;
const TOTAL_MS = 1_000;
const FIRST_PAUSE_MS = 100;
const REFUSED = 422;

/**
 * Writes an intent: up to 3 attempts within 1 s, each of at most 500 ms (Identity specification, Delivery). All
 * attempts send the same body, which the service takes once. Rejects with {@link IntentUnwritten}.
 */
export async function writeIntent(
  client: Pick<AuditClient, "putIntent">,
  request_id: string,
  intent: AuditIntent,
  clock: Clock = systemClock,
): Promise<void> {
  const end_ms = clock.elapsed_ms() + TOTAL_MS;
  let unwritten = new IntentUnwritten("no time was left", false, null);
  for (let attempt = 0; attempt < ATTEMPTS && unwritten.status !== REFUSED; attempt++) {
    if (attempt > 0) await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1) * (1 + Math.random()), clock);
    const left_ms = Math.floor(end_ms - clock.elapsed_ms());
    if (left_ms < 1) break;
    const failed = await tryOnce(
      client,
      request_id,
      intent,
      Math.min(ATTEMPT_TIMEOUT_MS, left_ms),
      unwritten,
    );
    if (failed === null) return;
    unwritten = failed;
  }
  throw unwritten;
}

function pause(ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

/** null once the intent is recorded, else why it is not. */
async function tryOnce(
  client: Pick<AuditClient, "putIntent">,
  request_id: string,
  intent: AuditIntent,
  timeout_ms: number,
  before: IntentUnwritten,
): Promise<IntentUnwritten | null> {
  try {
    const status = await client.putIntent(request_id, intent, timeout_ms);
    if (status === 200 || status === 201) return null;
    const maybe_written = before.maybe_written || status >= 500;
    return new IntentUnwritten(`the audit service answered ${status}`, maybe_written, status);
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    return new IntentUnwritten(error.message, before.maybe_written || error.sent, null);
  }
}
