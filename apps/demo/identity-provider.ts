import { listen, localOrigin } from "@ostiary/lib/runtime/service";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

/**
 * A toy identity provider for the quick start and tests: hands a signed token to whoever asks, for whatever
 * name they give. Never run it where a real gateway listens to it.
 *
 * - `GET /token?subject=alice` answers the bare JWT, good for an hour.
 * - `GET /.well-known/jwks.json` is the key set that a gateway verifies it with.
 */
export interface IdentityProvider {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly port: number;
  stop(): Promise<void>;
}

export interface IdentityProviderOptions {
  host: string;
  port: number;
  /** What an operator sets the port by; `PORT` unless told. */
  variable?: string;
  /** `iss` of every token; the address it listens on unless told. */
  issuer?: string;
}

const ALGORITHM = "ES256";
const TOKEN_LIFE = "1h";
const UNKNOWN_PATH = "This toy identity provider knows /token and /.well-known/jwks.json.\n";

const tokenQuery = Type.Object({ subject: Type.String({ minLength: 1, maxLength: 128 }) });

export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  // a key of its own at each start, so that gateways look for it instead of trying the last one
  const kid = crypto.randomUUID();
  const keySet = { keys: [{ ...(await exportJWK(publicKey)), kid, alg: ALGORITHM, use: "sig" }] };
  let issuer = options.issuer ?? "";
  const sign = (subject: string) =>
    new SignJWT({})
      .setProtectedHeader({ alg: ALGORITHM, kid })
      .setIssuer(issuer)
      .setSubject(subject)
      .setIssuedAt()
      .setExpirationTime(TOKEN_LIFE)
      .sign(privateKey);

  const answer = async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/.well-known/jwks.json") return Response.json(keySet);
    if (pathname !== "/token") return new Response(UNKNOWN_PATH, { status: 404 });
    const query = Object.fromEntries(searchParams);
    if (Value.Check(tokenQuery, query)) return new Response(await sign(query.subject));
    return new Response("Ask with ?subject=NAME, of 1 to 128 characters.\n", { status: 400 });
  };
  const { host, port, variable = "PORT" } = options;
  const server = listen({ fetch: answer }, { host, port, variable });
  const address = localOrigin(host, server.port ?? port);
  issuer ||= address;
  return {
    issuer,
    jwks_uri: `${address}/.well-known/jwks.json`,
    port: server.port ?? port,
    stop: () => server.stop(true),
  };
}
