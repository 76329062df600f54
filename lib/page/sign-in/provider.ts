import { type Static, Type } from "@sinclair/typebox";
import * as oauth from "oauth4webapi";
import { type SignInSettings, signInReturnPath } from "../../contracts/sign-in.ts";
import { keepInTab, takeFromTab } from "./tab-storage.ts";

/** A sign-in in progress at the identity provider, as stored in the tab. It contains no tokens. */
const Attempt = Type.Object({
  /** The issuer at which the sign-in began. Only its response completes the sign-in. */
  issuer: Type.String(),
  state: Type.String(),
  nonce: Type.String(),
  verifier: Type.String(),
  /** The fragment that the page restores after the sign-in. */
  fragment: Type.String(),
});
type Attempt = Static<typeof Attempt>;

/**
 * Returns the key in `sessionStorage` of a value that a page keeps. `path` is the path of the page, such as `/portal`.
 */
export function keyOf(path: string, name: string): string {
  return `ostiary.${path.slice(1)}.${name}`;
}

/** Returns the sign-in in progress, or null if this tab has none. Removes it from the tab, so it completes once. */
export function takeAttempt(path: string): Attempt | null {
  return takeFromTab(keyOf(path, "attempt"), Attempt);
}

export interface Tokens {
  readonly access_token: string;
  readonly id_token: string;
  /** The id of the person at the identity provider. */
  readonly sub: string;
  readonly refresh_token: string | null;
  /** The expiry of the access token in milliseconds since the epoch, or null if it is unknown. */
  readonly endsMs: number | null;
  /** The person's name at the identity provider, or null if the provider sent no name. */
  readonly name: string | null;
}

/**
 * The reason why a sign-in failed.
 *
 * - `insecure`: the page was not opened with https, so the browser lacks the functions that a sign-in needs
 * - `blocked`: the browser blocks the storage that a sign-in needs
 * - `clock`: the clock of this device and the provider's clock differ
 * - `ended`: the person must sign in at the identity provider's page, for example because the session ended
 * - `refused`: the identity provider or the person refused the sign-in
 * - `unsafe`: the response does not belong to a sign-in of this tab, or fails a check
 * - `unavailable`: the identity provider sends no valid response, or does not allow calls from this page (CORS)
 */
export class SignInFailure extends Error {
  readonly reason: "insecure" | "blocked" | "clock" | "ended" | "refused" | "unsafe" | "unavailable";
  /** The message of the identity provider. Empty if there is none. */
  readonly detail: string;

  constructor(reason: SignInFailure["reason"], detail = "") {
    super(detail);
    this.reason = reason;
    this.detail = detail;
  }
}

const TIMEOUT_MS = 30_000;

/** The error codes for a silent sign-in that needs the person's input (OpenID Connect Core, 3.1.2.6). */
const NEEDED = new Set([
  "login_required",
  "interaction_required",
  "consent_required",
  "account_selection_required",
]);

/** The error codes for a response that is not the provider's, such as half a response or a proxy's error page. */
const UNUSABLE = new Set([oauth.RESPONSE_IS_NOT_CONFORM, oauth.RESPONSE_IS_NOT_JSON, oauth.PARSE_ERROR]);

/**
 * A client of the identity provider (PT-10): code flow with PKCE, and checks of state, nonce and issuer. Calls throw
 * errors that {@link signInFailureOf} explains.
 */
export class Provider {
  readonly #settings: SignInSettings;
  readonly #path: string;
  readonly #client: oauth.Client;
  readonly #options: { [oauth.allowInsecureRequests]: boolean; signal: () => AbortSignal };
  readonly #redirect_uri: string;
  #server: oauth.AuthorizationServer | null = null;

  /** @param path the path of the page, such as `/portal` */
  constructor(settings: SignInSettings, path: string) {
    this.#settings = settings;
    this.#path = path;
    this.#client = { client_id: settings.client_id };
    this.#redirect_uri = `${location.origin}${signInReturnPath(path)}`;
    // Calls without TLS are allowed only if the operator configured an http:// issuer, as the quick start
    // does.
    this.#options = {
      [oauth.allowInsecureRequests]: settings.issuer.startsWith("http:"),
      signal: () => AbortSignal.timeout(TIMEOUT_MS),
    };
  }

  get issuer(): string {
    return this.#settings.issuer;
  }

  /** Redirects to the identity provider, which shows no page if `silent`. */
  async begin(fragment: string, silent: boolean): Promise<void> {
    if (!isSecureContext) throw new SignInFailure("insecure");
    const { authorization_endpoint } = await this.#discover();
    if (authorization_endpoint === undefined) throw new SignInFailure("unavailable");
    const attempt: Attempt = {
      issuer: this.issuer,
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
      fragment,
    };
    const address = new URL(authorization_endpoint);
    const request = await this.#request(attempt, silent);
    for (const [name, value] of Object.entries(request)) address.searchParams.set(name, value);
    if (!keepInTab(keyOf(this.#path, "attempt"), attempt)) throw new SignInFailure("blocked");
    location.assign(address);
  }

  async #request({ state, nonce, verifier }: Attempt, silent: boolean): Promise<Record<string, string>> {
    const { scopes, client_id } = this.#settings;
    return {
      response_type: "code",
      client_id,
      redirect_uri: this.#redirect_uri,
      scope: scopes,
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...(silent && { prompt: "none" }),
      ...this.#audience,
    };
  }

  /**
   * The request parameters for the audience: `audience`, which many providers expect, and the standard `resource`
   * if the audience is a URL (RFC 8707).
   */
  get #audience(): Record<string, string> {
    const { audience } = this.#settings;
    return audience === null ? {} : { audience, ...(URL.canParse(audience) && { resource: audience }) };
  }

  /**
   * Exchanges the code in the query of the redirect URI for tokens. Refuses a response to another attempt, and one that
   * names another issuer (RFC 9207).
   */
  async finish(search: string, attempt: Attempt): Promise<Tokens> {
    const server = await this.#discover();
    const returned = new URLSearchParams(search);
    const parameters = oauth.validateAuthResponse(server, this.#client, returned, attempt.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      this.#client,
      oauth.None(),
      parameters,
      this.#redirect_uri,
      attempt.verifier,
      { ...this.#options, additionalParameters: this.#audience },
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, this.#client, response, {
      expectedNonce: attempt.nonce,
      requireIdToken: true,
    });
    return tokensOf(tokens, null);
  }

  /** Renews the access token. New tokens of another person are `unsafe` (OpenID Connect Core, 12.2). */
  async renew({ refresh_token, id_token, sub }: Tokens): Promise<Tokens> {
    if (refresh_token === null) throw new SignInFailure("ended");
    const server = await this.#discover();
    const response = await oauth.refreshTokenGrantRequest(
      server,
      this.#client,
      oauth.None(),
      refresh_token,
      this.#options,
    );
    const tokens = await oauth.processRefreshTokenResponse(server, this.#client, response);
    if ((claimsOf(tokens)?.sub ?? sub) !== sub) throw new SignInFailure("unsafe");
    return tokensOf(tokens, { refresh_token, id_token, sub });
  }

  /** Returns the URL that ends the provider's session, or null if there is none or the provider does not respond. */
  async endAddress({ id_token }: Tokens): Promise<string | null> {
    try {
      const { end_session_endpoint } = await this.#discover();
      if (end_session_endpoint === undefined) return null;
      const address = new URL(end_session_endpoint);
      address.searchParams.set("client_id", this.#settings.client_id);
      address.searchParams.set("id_token_hint", id_token);
      address.searchParams.set("post_logout_redirect_uri", `${location.origin}${this.#path}`);
      return address.href;
    } catch {
      return null;
    }
  }

  async #discover(): Promise<oauth.AuthorizationServer> {
    if (this.#server !== null) return this.#server;
    const issuer = new URL(this.#settings.issuer);
    const response = await oauth.discoveryRequest(issuer, { algorithm: "oidc", ...this.#options });
    this.#server = await oauth.processDiscoveryResponse(issuer, response);
    return this.#server;
  }
}

function tokensOf(
  response: oauth.TokenEndpointResponse,
  before: Pick<Tokens, "refresh_token" | "id_token" | "sub"> | null,
): Tokens {
  const { access_token, id_token, refresh_token, expires_in } = response;
  const claims = claimsOf(response);
  return {
    access_token,
    id_token: id_token ?? before?.id_token ?? "",
    sub: claims?.sub ?? before?.sub ?? "",
    refresh_token: refresh_token ?? before?.refresh_token ?? null,
    endsMs: expires_in === undefined ? null : Date.now() + expires_in * 1_000,
    name: nameOf(claims),
  };
}

function claimsOf(response: oauth.TokenEndpointResponse): oauth.IDToken | undefined {
  return response.id_token === undefined ? undefined : oauth.getValidatedIdTokenClaims(response);
}

function nameOf(claims: oauth.IDToken | undefined): string | null {
  const found = [claims?.name, claims?.preferred_username].find(
    (claim) => typeof claim === "string" && claim.trim() !== "",
  );
  return typeof found === "string" ? [...found.trim()].slice(0, 128).join("") : null;
}

/** Returns the failure for an error of a {@link Provider}. */
export function signInFailureOf(error: unknown): SignInFailure {
  if (error instanceof SignInFailure) return error;
  if (error instanceof oauth.AuthorizationResponseError) {
    const { error: code, error_description } = error;
    return new SignInFailure(NEEDED.has(code) ? "ended" : "refused", error_description ?? code);
  }
  if (error instanceof oauth.ResponseBodyError)
    return new SignInFailure("refused", error.error_description ?? error.error);
  if (!(error instanceof oauth.OperationProcessingError) || UNUSABLE.has(error.code ?? ""))
    return new SignInFailure("unavailable");
  return error.code === oauth.JWT_TIMESTAMP_CHECK
    ? new SignInFailure("clock")
    : new SignInFailure("unsafe", error.message);
}

/** Replaces the URL, so that no code, state or token stays in the address bar or the history. */
export function cleanAddress(path: string, fragment: string): void {
  history.replaceState(null, "", `${path}${fragment}`);
}
