import type { AuthType } from "@ostiary/lib/audit";
import type { Scope } from "@ostiary/lib/routes";

/** Who was admitted: the ids that the scope knows, and what logs and audit events say of the credential. */
export interface Principal {
  readonly auth_type: AuthType;
  /** Display prefix of the key or session; null for a JWT. */
  readonly key_prefix: string | null;
  readonly user_id: string | null;
  readonly organization_id: string | null;
  readonly member_id: string | null;
  /** What a member's role grants; null for a user, whose labels are never checked. */
  readonly labels: readonly string[] | null;
}

/** Step 2 of a request: prove who calls (Gateway specification, Gateway admission; contract 4, Admission). */
export interface Authenticator {
  /**
   * The caller of a request to a route of `scope`. Answers at once when it is cached.
   *
   * @throws ApiError 401 for a missing, bad or wrong-realm credential; 503 (kind `auth` or `network`) when the
   * key set or the validation service can not tell
   */
  authenticate(scope: Exclude<Scope, "public">, request: Request): Principal | Promise<Principal>;
  /** Display prefix of the presented key when it has a known shape, valid or not; for logs. */
  presentedKeyPrefix(request: Request): string | null;
  /** Whether the key set is loaded. */
  ready(): boolean;
  /** Begins to load the key set; does not wait for it. */
  start(): Promise<void>;
  stop(): Promise<void>;
}
