import type { Principal } from "../../../apps/gateway/admission/principal.ts";
import type { EndedRequest } from "../../../apps/gateway/usage/counter.ts";

export function memberPrincipal(changes: Partial<Principal> = {}): Principal {
  return {
    auth_type: "member_apikey",
    key_prefix: "acme-k-2-abcd",
    user_id: null,
    organization_id: "o1",
    member_id: "m1",
    labels: [],
    plan: null,
    ...changes,
  };
}

export const ROUTE = {
  service: "widgets",
  path: "/org/widgets",
  method: "GET",
  rate_limit: null,
  bucketPrefix: "route:GET:/org/widgets:",
} as const;

/** Returns a request of a member that a gateway forwarded to its service. */
export function endedRequest(changes: Partial<EndedRequest> = {}): EndedRequest {
  return {
    principal: memberPrincipal(),
    route: ROUTE,
    receivedAtMs: Date.parse("2026-03-04T05:10:00.000Z"),
    forwarded: true,
    bytes_in: 10,
    bytes_out: 100,
    ...changes,
  };
}
