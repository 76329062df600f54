import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from "jose";

/** A key pair of an identity provider, with its public half as a key set shows it. */
export interface SigningKey {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

/** The numbers of all RSA keys of this process: to find new ones takes 100 ms of CPU. */
let rsaNumbers: Promise<JWK> | undefined;

async function newRsaNumbers(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const { alg: _, ...numbers } = await exportJWK(privateKey);
  return numbers;
}

/** Returns a key for an algorithm. RSA keys differ by their algorithms and ids alone. */
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

/** Signs `claims` as they are; it adds no `exp`. */
export function sign(key: SigningKey, claims: JWTPayload, header: Record<string, unknown> = {}) {
  const kid = key.kid === undefined ? {} : { kid: key.kid };
  return new SignJWT(claims).setProtectedHeader({ alg: key.alg, ...kid, ...header }).sign(key.privateKey);
}

/** A stand-in for an identity provider's key set. */
export interface ProviderStandIn {
  readonly uri: string;
  /** Returns the number of requests so far. */
  readonly fetches: () => number;
  /** Makes the answer. */
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
