import { localOrigin } from "@ostiary/lib/service";
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
  /** `iss` of every token; the address it listens on unless told. */
  issuer?: string;
}

const ALGORITHM = "ES256";
const TOKEN_LIFE = "1h";

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

  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    routes: {
      "/.well-known/jwks.json": () => Response.json(keySet),
      "/token": async (request) => {
        const query = Object.fromEntries(new URL(request.url).searchParams);
        if (Value.Check(tokenQuery, query)) return new Response(await sign(query.subject));
        return new Response("Ask with ?subject=NAME, of 1 to 128 characters.\n", { status: 400 });
      },
    },
    fetch: () =>
      new Response("This toy identity provider knows /token and /.well-known/jwks.json.\n", { status: 404 }),
  });
  const port = server.port ?? options.port;
  const address = localOrigin(options.host, port);
  issuer ||= address;
  return {
    issuer,
    jwks_uri: `${address}/.well-known/jwks.json`,
    port,
    stop: () => server.stop(true),
  };
}
