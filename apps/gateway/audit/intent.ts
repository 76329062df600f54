import { type AuditIntent, USER_AGENT_LENGTH_MAX } from "@ostiary/lib/contracts/audit";
import type { CompiledRoute } from "@ostiary/lib/domain/routes";
import type { Principal } from "../admission/principal.ts";

interface AuditedRequest {
  readonly route: Pick<CompiledRoute, "service" | "scope" | "method" | "path" | "params">;
  /** The values of the route's params, in the order of the params. */
  readonly values: readonly string[];
  readonly principal: Principal;
  readonly ip: string;
  readonly user_agent: string | null;
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
