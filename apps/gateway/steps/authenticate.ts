import { type Clock, systemClock } from "@ostiary/lib/async";
import type { Realm } from "@ostiary/lib/domain/credentials";
import { ApiError } from "@ostiary/lib/domain/errors";
import type { Scope } from "@ostiary/lib/domain/routes";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import { CredentialRefusal, TOKEN_REFUSAL_REASONS } from "@ostiary/lib/runtime/tokens";
import { ChangeMemory } from "../admission/change-memory.ts";
import { AdmissionChangesReader } from "../admission/changes.ts";
import type { AdmissionConfig } from "../admission/config.ts";
import { openIssuers } from "../admission/issuers.ts";
import {
  type AdmissionCache,
  admitCredentials,
  type CacheName,
  type CacheState,
} from "../admission/keys-and-sessions.ts";
import type { Admitted, Principal } from "../admission/principal.ts";
import { ResultCache } from "../admission/result-cache.ts";
import { admitTokens, type NamedPerson } from "../admission/tokens.ts";
import { createValidationClient, type ValidationSignals } from "../admission/validation-client.ts";

export type ProtectedScope = Exclude<Scope, "public">;

/** The reasons to refuse a credential, as `gateway_credentials_refused_total` and the log show them. */
const REFUSAL_REASONS = ["missing", "realm", "api_key", "person", ...TOKEN_REFUSAL_REASONS];

/** Authenticates callers: step 2 of a request (GW-34). */
export interface Authenticator {
  /**
   * Returns the caller of a request to a route of `scope`, synchronously if the result is cached.
   *
   * @param credential the request's X-API-Key
   * @throws ApiError 401 for a credential that is missing, refused or of the wrong realm, with a
   * {@link CredentialRefusal} as cause
   * @throws ApiError 503 (kind `auth` or `network`) if the key set of a token's issuer or identity is unavailable
   */
  authenticate(
    scope: ProtectedScope,
    request: Request,
    credential: string | null,
  ): Principal | Promise<Principal>;
  /** The number of responses about changed admissions so far. */
  readonly knownChanges: number;
  /** Returns whether the admission of a caller may have changed since that many responses. */
  isChanged(principal: Principal, knownChanges: number): boolean;
  readonly refusals: Readonly<Record<string, number>>;
  readonly caches: Readonly<Record<CacheName, CacheState>>;
  ready(): boolean;
  /** Returns the age of the newest response about changed admissions, in milliseconds; null if changes are not read. */
  knowledgeAgeMs(): number | null;
  /** Starts to load the key sets and to read changes of admissions; does not wait for them. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface AuthenticatorOptions {
  readonly config: AdmissionConfig;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly clock?: Clock;
  readonly signals?: ValidationSignals;
}

const REALMS: Readonly<Record<ProtectedScope, Realm>> = {
  user: "directory",
  organization: "organization",
  member: "organization",
};

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { config, log, clock = systemClock, signals } = options;
  const issuers = openIssuers(config, log, clock);
  const memory = new ChangeMemory();
  const entries = config.ADMISSION_CACHE_ENTRIES;
  const credentials: AdmissionCache = new ResultCache(entries, clock, memory);
  const named = new ResultCache<NamedPerson | CredentialRefusal>(entries, clock);
  const persons: AdmissionCache = new ResultCache(entries, clock, memory);
  const ttlMs = config.APIKEY_CACHE_TTL_SECS * 1000;
  const validation = createValidationClient(config, signals, options.clock);
  const admitCredential = admitCredentials(validation, { cache: credentials, ttlMs, clock });
  const admitToken = admitTokens({ verify: issuers.verify, validation, named, persons, ttlMs, clock });
  const changes = new AdmissionChangesReader({ config, memory, log, clock });
  const refusals: Record<string, number> = Object.fromEntries(REFUSAL_REASONS.map((reason) => [reason, 0]));

  function refuse(scope: ProtectedScope, refusal: CredentialRefusal): never {
    refusals[refusal.reason] = (refusals[refusal.reason] ?? 0) + 1;
    throw unauthorized(scope, refusal);
  }

  function principalIn(admitted: Admitted | CredentialRefusal, scope: ProtectedScope): Principal {
    if (admitted instanceof CredentialRefusal) return refuse(scope, admitted);
    if (admitted.realm !== REALMS[scope]) return refuse(scope, wrongRealm(admitted.realm, scope));
    return admitted.principal;
  }

  function inRealm(
    found: ReturnType<typeof admitToken>,
    scope: ProtectedScope,
  ): Principal | Promise<Principal> {
    return found instanceof Promise
      ? found.then((admitted) => principalIn(admitted, scope))
      : principalIn(found, scope);
  }

  return {
    authenticate(scope, request, credential) {
      if (credential !== null) return inRealm(admitCredential(credential), scope);
      const authorization = request.headers.get("authorization");
      const token = scope === "user" ? bearerToken(authorization) : null;
      if (token === null) return refuse(scope, missing(scope, authorization !== null));
      return inRealm(admitToken(token), scope);
    },
    get knownChanges() {
      return memory.count;
    },
    isChanged: (principal, knownChanges) => memory.isAbout(principal, knownChanges),
    refusals,
    caches: { credentials, tokens: named, persons },
    ready: () => issuers.ready(),
    knowledgeAgeMs: () => changes.ageMs(),
    async start() {
      issuers.start();
      changes.start();
    },
    async stop() {
      issuers.stop();
      await changes.stop();
      validation.close();
    },
  };
}

/** Names the credentials that a route of `scope` accepts. */
function missing(scope: ProtectedScope, isAuthorizationSent: boolean): CredentialRefusal {
  const accepted = scope === "user" ? "X-API-Key or Authorization: Bearer" : "X-API-Key";
  const sent = isAuthorizationSent ? " The Authorization header is not accepted here." : "";
  return new CredentialRefusal("missing", `A route of ${scope} scope accepts ${accepted}.${sent}`);
}

function wrongRealm(realm: Realm, scope: ProtectedScope): CredentialRefusal {
  const holder = realm === "directory" ? "a person" : "a member of an organization";
  return new CredentialRefusal("realm", `The credential belongs to ${holder}; the route has ${scope} scope.`);
}

const BEARER = "bearer ";

function bearerToken(authorization: string | null): string | null {
  if (authorization?.slice(0, BEARER.length).toLowerCase() !== BEARER) return null;
  return authorization.slice(BEARER.length).trim();
}

/**
 * Returns the 401. Only the 401 of a user route names a scheme (Bearer), because HTTP has no scheme for API
 * keys.
 */
function unauthorized(scope: ProtectedScope, cause: CredentialRefusal): ApiError {
  const headers = scope === "user" ? { "WWW-Authenticate": "Bearer" } : undefined;
  return new ApiError("UNAUTHORIZED", { kind: "auth", headers, cause });
}
