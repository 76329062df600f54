import { type AdmissionChange, ValidationRequest } from "@ostiary/lib/contracts/admission";
import { ADMISSION_CHANGES_PATH } from "@ostiary/lib/contracts/internal-api";
import { Value } from "@sinclair/typebox/value";

/**
 * A stand-in for the endpoints with which identity validates credentials and reports changes of admissions. It records
 * the validations.
 */
export interface IdentityStandIn {
  readonly url: string;
  readonly calls: unknown[];
  readonly tokens: (string | null)[];
  /** The results by credential or by subject. Other credentials and subjects get `{ valid: false }`. */
  readonly results: Map<string, unknown>;
  readonly changes: AdmissionChange[];
  /** The number of responses that reported changes. */
  changesReported: number;
  /** A function that returns the response to a request for changes in place of `changes`, or null. */
  overrideChanges: ((after: string | null) => Response | Promise<Response>) | null;
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
      const url = new URL(request.url);
      if (url.pathname === ADMISSION_CHANGES_PATH)
        return reportChanges(identity, url.searchParams.get("after"));
      const body = Value.Parse(ValidationRequest, await request.json());
      identity.calls.push(body);
      identity.tokens.push(request.headers.get("x-platform-internal-token"));
      if (identity.override !== null) return identity.override();
      if ("idp" in body && !isStorable(body.idp.subject)) return new Response(null, { status: 422 });
      const name = "credential" in body ? body.credential : body.idp.subject;
      return Response.json(identity.results.get(name) ?? { valid: false });
    },
  });
  const identity: IdentityStandIn = {
    url: `http://127.0.0.1:${server.port}/internal/credentials/validate`,
    calls: [],
    tokens: [],
    results: new Map(),
    changes: [],
    changesReported: 0,
    overrideChanges: null,
    override: null,
    stop: () => server.stop(true),
  };
  return identity;
}

/** Returns whether identity accepts a subject (ID-86). */
function isStorable(subject: string): boolean {
  const controls = [...subject].filter((char) => char < " " || (char >= "\x7f" && char <= "\x9f"));
  return subject.length <= 255 && controls.length === 0 && subject.isWellFormed();
}

function reportChanges(identity: IdentityStandIn, after: string | null): Response | Promise<Response> {
  if (identity.overrideChanges !== null) return identity.overrideChanges(after);
  identity.changesReported += 1;
  const { changes } = identity;
  return Response.json({
    changes: after === null ? [] : changes.slice(Number(after)),
    next: String(changes.length),
  });
}

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
