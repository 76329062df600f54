import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";

/** A key pair of an identity provider, and its public half as a key set shows it. */
export interface SigningKey {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

export async function signingKey(alg: string, kid?: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), alg, use: "sig", ...(kid !== undefined && { kid }) };
  return { alg, kid, jwk, privateKey };
}

/** Signs `claims` as they are: whoever leaves out `exp` means it. */
export function sign(key: SigningKey, claims: JWTPayload, header: Record<string, unknown> = {}) {
  const kid = key.kid === undefined ? {} : { kid: key.kid };
  return new SignJWT(claims).setProtectedHeader({ alg: key.alg, ...kid, ...header }).sign(key.privateKey);
}

/** Stands in for an identity provider's key set. */
export interface ProviderStandIn {
  readonly uri: string;
  /** Requests so far. */
  readonly fetches: () => number;
  /** What it answers. */
  answer: () => Response | Promise<Response>;
  /** Answers this key set from now on. */
  publish(...keys: SigningKey[]): void;
  stop(): Promise<void>;
}

export function startProvider(...keys: SigningKey[]): ProviderStandIn {
  let fetches = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch() {
      fetches += 1;
      return provider.answer();
    },
  });
  const provider: ProviderStandIn = {
    uri: `http://127.0.0.1:${server.port}/keys`,
    fetches: () => fetches,
    answer: () => new Response(null, { status: 503 }),
    publish(...published) {
      provider.answer = () => Response.json({ keys: published.map(({ jwk }) => jwk) });
    },
    stop: () => server.stop(true),
  };
  provider.publish(...keys);
  return provider;
}
