import { listen, localOrigin } from "@ostiary/lib/runtime/service";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { Authorization } from "./authorization.ts";

/**
 * A toy identity provider for the quick start and tests, which signs a token for any name without a password.
 * Never let a real gateway trust it.
 *
 * - `/.well-known/openid-configuration` describes a sign-in page, where a person chooses a name.
 * - `GET /token?subject=alice` returns the bare JWT, which expires after one hour.
 * - `GET /.well-known/jwks.json` returns the key set with which a gateway verifies the JWT.
 */
export interface IdentityProvider {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly port: number;
  stop(): Promise<void>;
}

interface IdentityProviderOptions {
  host: string;
  port: number;
  /** The variable that sets the port, for error messages; `PORT` by default. */
  variable?: string;
  /** The `iss` of every token. The default is the URL of this identity provider. */
  issuer?: string;
}

const ALGORITHM = "ES256";
const TOKEN_LIFE = "1h";
const UNKNOWN_PATH =
  "This toy identity provider serves /token, /.well-known/jwks.json and /.well-known/openid-configuration.\n";

const tokenQuery = Type.Object({ subject: Type.String({ minLength: 1, maxLength: 128 }) });

export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  // A new id at each start makes gateways fetch the new key instead of trying the old one.
  const kid = crypto.randomUUID();
  const keySet = { keys: [{ ...(await exportJWK(publicKey)), kid, alg: ALGORITHM, use: "sig" }] };
  const urls = { issuer: options.issuer ?? "", url: "" };
  const sign = (subject: string, claims: Record<string, unknown> = {}) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, kid })
      .setIssuer(urls.issuer)
      .setSubject(subject)
      .setIssuedAt()
      .setExpirationTime(TOKEN_LIFE)
      .sign(privateKey);

  const authorization = new Authorization(urls, sign);
  const respond = async (request: Request): Promise<Response> => {
    const authorized = await authorization.respond(request);
    if (authorized !== null) return authorized;
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/.well-known/jwks.json")
      return Response.json(keySet, { headers: { "Access-Control-Allow-Origin": "*" } });
    if (pathname !== "/token") return new Response(UNKNOWN_PATH, { status: 404 });
    const query = Object.fromEntries(searchParams);
    if (Value.Check(tokenQuery, query)) return new Response(await sign(query.subject));
    return new Response("Add ?subject=NAME, with a name of 1 to 128 characters.\n", { status: 400 });
  };
  const { host, port, variable = "PORT" } = options;
  const server = listen({ fetch: respond }, { host, port, variable });
  urls.url = localOrigin(host, server.port ?? port);
  urls.issuer ||= urls.url;
  return {
    issuer: urls.issuer,
    jwks_uri: `${urls.url}/.well-known/jwks.json`,
    port: server.port ?? port,
    stop: () => server.stop(true),
  };
}
