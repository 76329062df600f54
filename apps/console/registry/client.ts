import { type HttpAnswer, pathOf, RegistryApi, type TokenSource } from "@ostiary/lib/contracts/registry-api";
import { ErrorEnvelope } from "@ostiary/lib/domain/errors";
import { Value } from "@sinclair/typebox/value";
import { Failure, failureOf } from "./failure.ts";

/** The part of `fetch` that the client uses. */
export type Send = (address: string, request: RequestInit) => Promise<Response>;

const TIMEOUT_MS = 30_000;

/** A client of the registry that serves this page. */
export class Registry extends RegistryApi {
  readonly #fetch: Send;

  /** @throws Failure when the token is not visible ASCII */
  constructor(token: string | TokenSource, send: Send = (address, request) => fetch(address, request)) {
    if (typeof token === "string" && !/^[\x21-\x7e]+$/.test(token)) {
      throw new Failure("refused", "A token consists of visible ASCII characters without spaces.");
    }
    super(token, TIMEOUT_MS);
    this.#fetch = send;
  }

  protected async send(path: string, request: RequestInit, writing: boolean): Promise<HttpAnswer> {
    try {
      const response = await this.#fetch(path, {
        ...request,
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
      });
      const { ok, status, headers } = response;
      return { ok, status, headers, body: await response.text() };
    } catch {
      throw away(writing);
    }
  }

  protected failure({ ok, status }: HttpAnswer, value: unknown, writing: boolean): Failure {
    if (!ok && Value.Check(ErrorEnvelope, value)) return failureOf(status, value, writing);
    if (status >= 500) return away(writing);
    return new Failure("strange", `The response is not from a registry of this version (status ${status}).`, {
      outcomeUnknown: writing,
    });
  }
}

function away(writing: boolean): Failure {
  return new Failure("away", "The registry does not answer.", { outcomeUnknown: writing });
}

/** Returns a path with its segments escaped: `pathTo("services", name)`. */
export function pathTo(...segments: (string | number)[]): string {
  return pathOf(segments, () => new Failure("missing", "No service has this name."));
}
