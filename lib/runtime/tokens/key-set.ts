import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { createLocalJWKSet, importJWK, type JWTVerifyGetKey } from "jose";
import type { Clock } from "../../async/index.ts";
import { reasonOf } from "../../domain/errors/index.ts";
import { tryJson } from "../../domain/json/index.ts";
import { boundedCall } from "../bounded-call.ts";
import type { PeerTls } from "../config/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { isIssuerOf, type TokenClaims } from "./token-form.ts";

export interface Keys {
  /** Returns the keys without an `issuer`, and those whose `issuer` is the one that the claims name (GW-232). */
  forClaims(claims: TokenClaims): JWTVerifyGetKey;
}

/**
 * The public keys of an identity provider, requested every 2 s until the first success, and every 15 minutes after
 * that. If a refresh fails, the previous keys stay in use (GW-49, RG-125).
 */
export interface KeySet {
  current(): Keys | null;
  /**
   * Returns keys that are newer than `seen`, which lacks a token's key, or null. Concurrent callers share one request,
   * and at least 10 s pass between two of these requests (GW-51).
   */
  renewed(seen: Keys): Promise<Keys | null>;
  failing(): boolean;
  start(): void;
  stop(): void;
}

interface KeySetOptions {
  readonly uri: string;
  readonly tls?: PeerTls;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly clock: Clock;
  /** The environment variable that contains the URI, and the issuer where a file lists several. Log lines have both. */
  readonly source: { readonly variable: string; readonly issuer?: string };
}

const RETRY_MS = 2_000;
const REFRESH_MS = 15 * 60_000;
const RENEWAL_MS = 10_000;
const LOAD_TIMEOUT_MS = 5_000;

export function createKeySet({ uri, tls, log, clock, source }: KeySetOptions): KeySet {
  let keys: Keys | null = null;
  let loading: Promise<void> | null = null;
  let isFailing = false;
  let renewedAt = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let cancel = () => {};

  function load(): Promise<void> {
    loading ??= fetchKeys(uri, tls)
      .then(
        ({ usable, counts }) => {
          if (keys === null) log.info({ ...source, ...counts }, "the key set is loaded");
          keys = usable;
          isFailing = false;
        },
        (error) => {
          isFailing = true;
          log.warn({ ...source, reason: reasonOf(error) }, "the service could not load the key set");
        },
      )
      .finally(() => {
        loading = null;
      });
    return loading;
  }

  async function run(): Promise<void> {
    await load();
    if (!stopped) cancel = clock.after(keys === null ? RETRY_MS : REFRESH_MS, run);
  }

  return {
    current: () => keys,
    async renewed(seen) {
      const due = clock.elapsedMs() - renewedAt >= RENEWAL_MS;
      if (keys === seen && loading === null && due) renewedAt = clock.elapsedMs();
      if (keys === seen && (loading !== null || due)) await load();
      return keys === seen ? null : keys;
    },
    failing: () => isFailing,
    start() {
      void run();
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}

const KeySetResponse = Type.Object({ keys: Type.Array(Type.Unknown()) });

async function fetchKeys(uri: string, tls: PeerTls | undefined) {
  const { status, text } = await boundedCall({
    method: "GET",
    url: uri,
    headers: { accept: "application/jwk-set+json, application/json" },
    timeoutMs: LOAD_TIMEOUT_MS,
    tls,
  });
  if (status !== 200) throw new Error(`the identity provider returned status ${status}`);
  const response = tryJson(text);
  if (response === undefined) throw new Error("the response is not JSON, or is nested too deeply");
  if (!Value.Check(KeySetResponse, response)) throw new Error("the response is not a key set");
  const keys = await usableKeys(response.keys);
  if (keys.length === 0) throw new Error("the key set contains no usable key");
  const counts = { keys: keys.length, keys_passed_over: response.keys.length - keys.length };
  return { usable: keysByIssuer(keys), counts };
}

function keysByIssuer(keys: readonly PublicKey[]): Keys {
  const issuers = [...new Set(keys.flatMap(({ issuer }) => (issuer === undefined ? [] : [issuer])))];
  const sets = new Map<string, JWTVerifyGetKey>();
  return {
    forClaims(claims) {
      const fitting = issuers.filter((issuer) => isIssuerOf(issuer, claims));
      const name = JSON.stringify(fitting);
      let set = sets.get(name);
      if (set === undefined) {
        set = createLocalJWKSet({
          keys: keys.filter(({ issuer }) => issuer === undefined || fitting.includes(issuer)),
        });
        sets.set(name, set);
      }
      return set;
    },
  };
}

const ED25519 = "Ed25519";

/** The accepted signature algorithms (GW-43). `none` and algorithms with a shared secret are not accepted. */
export const ALGORITHMS = [
  ..."RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA".split(" "),
  ED25519,
];

/** The schema of a public key that an accepted algorithm can use. */
const PublicKey = Type.Object({
  kty: Type.Union([Type.Literal("RSA"), Type.Literal("EC"), Type.Literal("OKP")]),
  alg: Type.Optional(Type.Union(ALGORITHMS.map((alg) => Type.Literal(alg)))),
  crv: Type.Optional(Type.String()),
  issuer: Type.Optional(Type.String()),
  d: Type.Optional(Type.Undefined()),
});
type PublicKey = Static<typeof PublicKey>;

/** Any algorithm for its curve shows whether a key without one is usable. */
const ALGORITHM_OF_CURVE: Readonly<Record<string, string>> = {
  "P-256": "ES256",
  "P-384": "ES384",
  "P-521": "ES512",
  [ED25519]: "EdDSA",
};

/** The minimum size of an RSA key (RFC 7518, section 3.3). */
const RSA_BITS_MIN = 2_048;

/** Returns those keys that can verify a signature, in the same order (GW-52). */
async function usableKeys(keys: readonly unknown[]): Promise<PublicKey[]> {
  const checked = await Promise.all(
    keys.map(async (key) =>
      Value.Check(PublicKey, key) && (await isUsable(key)) ? [forEitherName(key)] : [],
    ),
  );
  return checked.flat();
}

/** The algorithm has two names, EdDSA and Ed25519 (RFC 9864), and jose only tries a key whose `alg` is the token's. */
function forEitherName(key: PublicKey): PublicKey {
  if (key.crv !== ED25519) return key;
  const { alg, ...either } = key;
  return either;
}

async function isUsable(key: PublicKey): Promise<boolean> {
  const alg = key.alg ?? (key.kty === "RSA" ? "RS256" : ALGORITHM_OF_CURVE[key.crv ?? ""]);
  if (alg === undefined) return false;
  try {
    const imported = await importJWK({ ...key }, alg);
    return imported instanceof CryptoKey && isStrong(imported.algorithm);
  } catch {
    return false; // malformed
  }
}

function isStrong(algorithm: object): boolean {
  return !("modulusLength" in algorithm) || Number(algorithm.modulusLength) >= RSA_BITS_MIN;
}
