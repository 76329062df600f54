import { ValidationRequest } from "@ostiary/lib/contracts/admission";
import { Value } from "@sinclair/typebox/value";

/** A stand-in for the endpoint with which identity validates credentials. It records its calls. */
export interface IdentityStandIn {
  readonly url: string;
  /** The bodies of the calls so far. */
  readonly calls: unknown[];
  readonly tokens: (string | null)[];
  /** The results by credential or by subject. Other credentials and subjects get `{ valid: false }`. */
  readonly results: Map<string, unknown>;
  /** A function that returns each response in place of `results`, or null. */
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

/** Returns the result of validation for a user's credential. */
export const person = (user_id = "u1") => ({ valid: true, realm: "directory", user_id });
/** Returns the result of validation for a member's credential. `more` overrides its fields. */
export const member = (more: object = {}) => ({
  valid: true,
  realm: "organization",
  organization_id: "o1",
  member_id: "m1",
  labels: ["widgets:read"],
  ...more,
});
