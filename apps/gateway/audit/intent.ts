import { type AuditIntent, USER_AGENT_LENGTH_MAX } from "@ostiary/lib/contracts/audit";
import type { CompiledRoute } from "@ostiary/lib/domain/routes";
import type { Principal } from "../admission/principal.ts";

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
