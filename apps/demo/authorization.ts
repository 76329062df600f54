import { signInReturnPath } from "@ostiary/lib/contracts/sign-in";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { signedOutPage, signInPage } from "./pages.ts";

/** An authorization code that is not exchanged yet. */
interface Code {
  subject: string;
  client_id: string;
  redirect_uri: string;
  code_challenge: string;
  nonce: string | undefined;
  audience: string | undefined;
  endsMs: number;
}

/** The issuer and the URL of the provider, which are known once its server listens. */
interface ProviderUrls {
  issuer: string;
  url: string;
}

/** Signs a token for a person. `claims` name the audience: the client or the requested one. */
type SignToken = (subject: string, claims?: Record<string, unknown>) => Promise<string>;

const PATHS = { authorize: "/authorize", token: "/authorize/token", end: "/authorize/end" } as const;
const CODE_MS = 60_000;
const TOKEN_SECONDS = 3_600;
/** The maximum number of codes, and of sessions. A further code or session replaces the oldest one. */
const KEPT_MAX = 1_000;
const COOKIE = "toy_provider";

const authorizationRequest = Type.Object({
  response_type: Type.Literal("code"),
  client_id: Type.String({ minLength: 1, maxLength: 128 }),
  redirect_uri: Type.String({ maxLength: 2_048 }),
  code_challenge: Type.String({ pattern: "^[A-Za-z0-9_-]{43}$" }),
  code_challenge_method: Type.Literal("S256"),
  state: Type.Optional(Type.String({ maxLength: 1_024 })),
  nonce: Type.Optional(Type.String({ maxLength: 1_024 })),
  audience: Type.Optional(Type.String({ minLength: 1, maxLength: 1_024 })),
  prompt: Type.Optional(Type.String()),
});
type AuthorizationRequest = Static<typeof authorizationRequest>;

const tokenRequest = Type.Object({
  grant_type: Type.Literal("authorization_code"),
  code: Type.String(),
  client_id: Type.String(),
  redirect_uri: Type.String(),
  code_verifier: Type.String({ pattern: "^[A-Za-z0-9._~-]{43,128}$" }),
});

const chosenName = Type.Object({ subject: Type.String({ minLength: 1, maxLength: 128 }) });

/** The code flow of OpenID Connect with PKCE, back to the portal and the console alone. It asks for no password. */
export class Authorization {
  readonly #urls: ProviderUrls;
  readonly #sign: SignToken;
  readonly #codes = new Map<string, Code>();
  /** The person of each session, by the value of its cookie. */
  readonly #sessions = new Map<string, string>();

  constructor(urls: ProviderUrls, sign: SignToken) {
    this.#urls = urls;
    this.#sign = sign;
  }

  async respond(request: Request): Promise<Response | null> {
    const url = new URL(request.url);
    switch (`${request.method} ${url.pathname}`) {
      case "GET /.well-known/openid-configuration":
        return Response.json(this.#metadata(), { headers: ANY_ORIGIN });
      case `GET ${PATHS.authorize}`:
        return this.#authorize(request, url);
      case `POST ${PATHS.authorize}`:
        return this.#choose(request, url);
      case `POST ${PATHS.token}`:
        return this.#exchange(request);
      case `GET ${PATHS.end}`:
        return this.#end(request, url);
      default:
        return null;
    }
  }

  #metadata() {
    const { issuer, url } = this.#urls;
    return {
      issuer,
      authorization_endpoint: `${url}${PATHS.authorize}`,
      token_endpoint: `${url}${PATHS.token}`,
      end_session_endpoint: `${url}${PATHS.end}`,
      jwks_uri: `${url}/.well-known/jwks.json`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      authorization_response_iss_parameter_supported: true,
    };
  }

  async #authorize(request: Request, url: URL): Promise<Response> {
    const asked = requestOf(url);
    if (asked === null) return refusal();
    const subject = this.#sessions.get(sessionOf(request));
    if (subject !== undefined && asked.prompt !== "login")
      return this.#sendBack(asked, this.#codeFor(asked, subject));
    if (asked.prompt === "none") return this.#sendBack(asked, { error: "login_required" });
    return html(await signInPage(`${PATHS.authorize}${url.search}`));
  }

  async #choose(request: Request, url: URL): Promise<Response> {
    const asked = requestOf(url);
    const chosen = read(chosenName, await formOf(request));
    if (asked === null || chosen === null) return refusal();
    const session = crypto.randomUUID();
    keep(this.#sessions, session, chosen.subject);
    const response = this.#sendBack(asked, this.#codeFor(asked, chosen.subject));
    response.headers.set(
      "Set-Cookie",
      `${COOKIE}=${session}; Path=${PATHS.authorize}; HttpOnly; SameSite=Lax`,
    );
    return response;
  }

  #codeFor(
    { client_id, redirect_uri, code_challenge, nonce, audience }: AuthorizationRequest,
    subject: string,
  ) {
    const code = crypto.randomUUID();
    const endsMs = Date.now() + CODE_MS;
    keep(this.#codes, code, { subject, client_id, redirect_uri, code_challenge, nonce, audience, endsMs });
    return { code };
  }

  #sendBack({ redirect_uri, state }: AuthorizationRequest, result: Record<string, string>): Response {
    const address = new URL(redirect_uri);
    const parameters = { ...result, ...(state !== undefined && { state }), iss: this.#urls.issuer };
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
    return new Response(null, { status: 303, headers: { ...HEADERS, Location: address.href } });
  }

  /** Exchanges a code for tokens. A code works once, and only for its client, redirect URI and PKCE challenge. */
  async #exchange(request: Request): Promise<Response> {
    const asked = read(tokenRequest, await formOf(request));
    const code = asked === null ? undefined : this.#codes.get(asked.code);
    if (asked !== null) this.#codes.delete(asked.code);
    const isOwn =
      asked !== null &&
      code !== undefined &&
      code.endsMs > Date.now() &&
      code.client_id === asked.client_id &&
      code.redirect_uri === asked.redirect_uri &&
      code.code_challenge === challengeOf(asked.code_verifier);
    const headers = { ...HEADERS, ...ANY_ORIGIN };
    if (!isOwn) return Response.json({ error: "invalid_grant" }, { status: 400, headers });
    const { subject, client_id, nonce, audience } = code;
    const tokens = {
      access_token: await this.#sign(subject, audience === undefined ? {} : { aud: audience }),
      id_token: await this.#sign(subject, { aud: client_id, nonce, name: subject }),
      token_type: "Bearer",
      expires_in: TOKEN_SECONDS,
    };
    return Response.json(tokens, { headers });
  }

  /** Ends the session and redirects to the page that the person came from. */
  async #end(request: Request, url: URL): Promise<Response> {
    this.#sessions.delete(sessionOf(request));
    const back = url.searchParams.get("post_logout_redirect_uri") ?? "";
    const isKnown = PAGES.includes(URL.parse(back)?.pathname ?? "");
    return isKnown
      ? new Response(null, { status: 303, headers: { ...HEADERS, Location: back } })
      : html(await signedOutPage());
  }
}

/** The paths of the pages that use this sign-in. */
const PAGES = ["/portal", "/console"];

const ANY_ORIGIN = { "Access-Control-Allow-Origin": "*" };
const HEADERS = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };

function requestOf(url: URL): AuthorizationRequest | null {
  const asked = read(authorizationRequest, Object.fromEntries(url.searchParams));
  const path = URL.parse(asked?.redirect_uri ?? "")?.pathname;
  return PAGES.some((page) => signInReturnPath(page) === path) ? asked : null;
}

async function formOf(request: Request): Promise<unknown> {
  return Object.fromEntries(new URLSearchParams(await request.text()));
}

function read<Schema extends TSchema>(schema: Schema, value: unknown): Static<Schema> | null {
  return Value.Check(schema, value) ? value : null;
}

function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  const [oldest] = map.keys();
  if (map.size >= KEPT_MAX && oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}

function sessionOf(request: Request): string {
  return new Bun.CookieMap(request.headers.get("cookie") ?? "").get(COOKIE) ?? "";
}

function challengeOf(verifier: string): string {
  return new Bun.CryptoHasher("sha256").update(verifier).digest("base64url");
}

function refusal(): Response {
  const text =
    "This request is not from the portal or the console: use the authorization code flow with PKCE.\n";
  return new Response(text, { status: 400 });
}

function html(text: string): Response {
  return new Response(text, {
    headers: {
      ...HEADERS,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    },
  });
}
