import { ValidationRequest } from "@ostiary/lib/contracts/admission";
import { Value } from "@sinclair/typebox/value";

/** Stands in for identity's credential validation: answers by credential or subject, and counts. */
export interface IdentityStandIn {
  readonly url: string;
  /** Bodies of the calls so far. */
  readonly calls: unknown[];
  readonly tokens: (string | null)[];
  /** Result by credential string, or by subject; what is not listed is `{ valid: false }`. */
  readonly results: Map<string, unknown>;
  /** Answers instead, while set. */
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
