/** A credential that calls send in a header. */
export interface Credential {
  readonly header: "Authorization" | "X-API-Key";
  /**
   * Returns the value of the header.
   *
   * @param refused the value that the gateway has just refused, or null. A credential that can be renewed
   *   returns another value then.
   */
  value(refused: string | null, signal?: AbortSignal): string | Promise<string>;
}

/** An API key of a person or a member. */
export function apiKey(key: string): Credential {
  return { header: "X-API-Key", value: () => key };
}

/** Returns the current token, or a new one when the gateway refused the `refused` one. */
export type TokenSource = (refused: string | null, signal?: AbortSignal) => string | Promise<string>;

const BEARER = "Bearer ";

/** A token of the identity provider. A function is asked before each call, and keeps the token itself. */
export function bearer(token: string | TokenSource): Credential {
  return {
    header: "Authorization",
    async value(refused, signal) {
      const source = typeof token === "string" ? () => token : token;
      return BEARER + (await source(refused === null ? null : refused.slice(BEARER.length), signal));
    },
  };
}
