import { ValidationRequest } from "@ostiary/lib/contracts/admission";
import { Value } from "@sinclair/typebox/value";

/**
 * A stand-in for identity's credential validation, which answers by credential or subject and keeps its
 * calls.
 */
export interface IdentityStandIn {
  readonly url: string;
  /** Bodies of the calls so far. */
  readonly calls: unknown[];
  readonly tokens: (string | null)[];
  /** Results by credential string or by subject; other credentials get `{ valid: false }`. */
  readonly results: Map<string, unknown>;
  /** Replaces the answers while it is set. */
  override: (() => Response | Promise<Response>) | null;
  stop(): Promise<void>;
}

export function startIdentity(): IdentityStandIn {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const body = Value.Parse(ValidationRequest, await request.json());
      identity.calls.push(body);
      identity.tokens.push(request.headers.get("x-platform-internal-token"));
      if (identity.override !== null) return identity.override();
      const name = "credential" in body ? body.credential : body.idp.subject;
      return Response.json(identity.results.get(name) ?? { valid: false });
    },
  });
  const identity: IdentityStandIn = {
    url: `http://127.0.0.1:${server.port}/internal/credentials/validate`,
    calls: [],
    tokens: [],
    results: new Map(),
    override: null,
    stop: () => server.stop(true),
  };
  return identity;
}

/** Results of a validation. */
export const person = (user_id = "u1") => ({ valid: true, realm: "directory", user_id });
export const member = (more: object = {}) => ({
  valid: true,
  realm: "organization",
  organization_id: "o1",
  member_id: "m1",
  labels: ["widgets:read"],
  ...more,
});
