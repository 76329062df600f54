import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from "jose";

/** A key pair of an identity provider, with the public key as an entry of a key set. */
export interface SigningKey {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

/** The numbers that all RSA keys of this process share, because new ones cost 100 ms of CPU time. */
let rsaNumbers: Promise<JWK> | undefined;

async function newRsaNumbers(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const { alg: _, ...numbers } = await exportJWK(privateKey);
  return numbers;
}

/** Returns a key pair for an algorithm. RSA keys differ only in their algorithm and id. */
export async function signingKey(alg: string, kid?: string): Promise<SigningKey> {
  const { jwk: numbers, privateKey } = await (isRsa(alg) ? rsaKey(alg) : newKey(alg));
  const jwk = { ...numbers, alg, use: "sig", ...(kid !== undefined && { kid }) };
  return { alg, kid, jwk, privateKey };
}

function isRsa(alg: string): boolean {
  return alg.startsWith("RS") || alg.startsWith("PS");
}

async function newKey(alg: string): Promise<Pick<SigningKey, "jwk" | "privateKey">> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { jwk: await exportJWK(publicKey), privateKey };
}

async function rsaKey(alg: string): Promise<Pick<SigningKey, "jwk" | "privateKey">> {
  rsaNumbers ??= newRsaNumbers();
  const numbers = await rsaNumbers;
  const privateKey = await importJWK(numbers, alg, { extractable: true });
  if (privateKey instanceof Uint8Array) throw new Error("An RSA key was expected.");
  const { kty, n, e } = numbers;
  return { jwk: { kty, n, e }, privateKey };
}

/** Returns a JWT with exactly these claims, without an added `exp`. */
export function sign(key: SigningKey, claims: JWTPayload, header: Record<string, unknown> = {}) {
  const kid = key.kid === undefined ? {} : { kid: key.kid };
  return new SignJWT(claims).setProtectedHeader({ alg: key.alg, ...kid, ...header }).sign(key.privateKey);
}

/** A stand-in for an identity provider, which serves a key set. */
export interface ProviderStandIn {
  readonly uri: string;
  /** Returns the number of requests for the key set so far. */
  readonly fetches: () => number;
  /** Called for each request. Returns the response. */
  respond: () => Response | Promise<Response>;
  /** Serves a key set with these keys from now on. */
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
      return provider.respond();
    },
  });
  const provider: ProviderStandIn = {
    uri: `http://127.0.0.1:${server.port}/keys`,
    fetches: () => fetches,
    respond: () => new Response(null, { status: 503 }),
    publish(...published) {
      provider.respond = () => Response.json({ keys: published.map(({ jwk }) => jwk) });
    },
    stop: () => server.stop(true),
  };
  provider.publish(...keys);
  return provider;
}
