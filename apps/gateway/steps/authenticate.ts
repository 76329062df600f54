import { type Clock, systemClock } from "@ostiary/lib/async";
import type { Realm } from "@ostiary/lib/domain/credentials";
import { ApiError } from "@ostiary/lib/domain/errors";
import type { Scope } from "@ostiary/lib/domain/routes";
import { listItems, peerTls } from "@ostiary/lib/runtime/config";
import type { Logger } from "@ostiary/lib/runtime/telemetry";
import type { AdmissionConfig } from "../admission/config.ts";
import { admitCredentials, type CacheOptions } from "../admission/credentials.ts";
import { createKeySet, type KeySet } from "../admission/key-set.ts";
import type { Admitted, Principal } from "../admission/principal.ts";
import { admitTokens, createTokenVerifier } from "../admission/tokens.ts";
import { createValidationClient, type ValidationSignals } from "../admission/validation-client.ts";

export type ProtectedScope = Exclude<Scope, "public">;

/** Step 2 of a request: prove who calls (Gateway specification, Gateway admission; contract 4, Admission). */
export interface Authenticator {
  /**
   * The caller of a request to a route of `scope`. Answers at once when it is cached.
   *
   * @param credential the request's X-API-Key
   * @throws ApiError 401 for a missing, bad or wrong-realm credential; 503 (kind `auth` or `network`) when the
   * key set or the validation service can not tell
   */
  authenticate(
    scope: ProtectedScope,
    request: Request,
    credential: string | null,
  ): Principal | Promise<Principal>;
  /** Whether the key set is loaded. */
  ready(): boolean;
  /** Begins to load the key set; does not wait for it. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface AuthenticatorOptions {
  readonly config: AdmissionConfig;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly clock?: Clock;
  readonly signals?: ValidationSignals;
  readonly onCache?: CacheOptions["onCache"];
}

/** The scope decides which realm it accepts. */
const REALMS: Readonly<Record<ProtectedScope, Realm>> = {
  user: "directory",
  organization: "organization",
  member: "organization",
};

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { config, log, clock = systemClock, signals, onCache } = options;
  const keySet = keySetOf(config, log, clock);
  const cache = {
    entries: config.ADMISSION_CACHE_ENTRIES,
    ttl_ms: config.APIKEY_CACHE_TTL_SECS * 1000,
    clock,
    onCache,
  };
  const validation = createValidationClient(config, signals);
  const admitCredential = admitCredentials(validation, cache);
  const issuer = config.AUTH_ISSUER ?? "";
  const rules = {
    issuer,
    audiences: config.AUTH_ALLOWED_AUDIENCES ? listItems(config.AUTH_ALLOWED_AUDIENCES) : [],
    subjectPath: config.AUTH_USER_ID_CLAIM.split("."),
  };
  const verify = createTokenVerifier(rules, keySet, () => clock.now());
  const admitToken = admitTokens({ issuer, verify, validation, cache });

  return {
    authenticate(scope, request, credential) {
      if (credential !== null) return inRealm(admitCredential(credential), scope);
      const token = scope === "user" ? bearerToken(request.headers.get("authorization")) : null;
      if (token === null) throw unauthorized(scope);
      return inRealm(admitToken(token), scope);
    },
    ready: () => keySet.current() !== null,
    async start() {
      keySet.start();
    },
    async stop() {
      keySet.stop();
    },
  };
}

/** Without issuer or address of the key set there are no keys, ever: JWTs get 503 and the gateway stays unready. */
function keySetOf(config: AdmissionConfig, log: AuthenticatorOptions["log"], clock: Clock): KeySet {
  if (config.AUTH_ISSUER !== undefined && config.AUTH_JWKS_URI !== undefined) {
    return createKeySet({
      uri: config.AUTH_JWKS_URI,
      tls: peerTls(config, "AUTH_JWKS"),
      log,
      clock,
    });
  }
  const missing = (["AUTH_ISSUER", "AUTH_JWKS_URI"] as const).filter((name) => config[name] === undefined);
  return {
    current: () => null,
    renewed: async () => null,
    start: () =>
      log.warn(
        { missing },
        "AUTH_ISSUER and AUTH_JWKS_URI are not both set: JWTs can not be verified, never ready",
      ),
    stop: () => {},
  };
}

function inRealm(
  found: Admitted | null | Promise<Admitted | null>,
  scope: ProtectedScope,
): Principal | Promise<Principal> {
  return found instanceof Promise
    ? found.then((admitted) => principalIn(admitted, scope))
    : principalIn(found, scope);
}

function principalIn(admitted: Admitted | null, scope: ProtectedScope): Principal {
  if (admitted === null || admitted.realm !== REALMS[scope]) throw unauthorized(scope);
  return admitted.principal;
}

const BEARER = "bearer ";

function bearerToken(authorization: string | null): string | null {
  if (authorization?.slice(0, BEARER.length).toLowerCase() !== BEARER) return null;
  return authorization.slice(BEARER.length).trim();
}

/** A JWT proves a person; everything else takes a key, for which HTTP names no scheme. */
function unauthorized(scope: ProtectedScope): ApiError {
  const headers = scope === "user" ? { "WWW-Authenticate": "Bearer" } : undefined;
  return new ApiError("UNAUTHORIZED", { kind: "auth", headers });
}
