import { ErrorEnvelope } from "@ostiary/lib/domain/errors";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Failure, failureOf } from "./failure.ts";

export interface RegistryRequest {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string;
}

/** As much of fetch as is used. */
export type Send = (address: string, request: RequestInit) => Promise<Response>;

/** An answer, with the tag that a later write may name. */
export interface Tagged<Answer> {
  answer: Answer;
  etag: string | null;
}

const TIMEOUT_MS = 30_000;

/** A registry that was told the admin token, which is nowhere but in this object. */
export class Registry {
  readonly #token: string;
  readonly #send: Send;

  /** Throws when no registry can have such a token. */
  constructor(token: string, send: Send = (address, request) => fetch(address, request)) {
    if (!/^[\x21-\x7e]+$/.test(token)) {
      throw new Failure("refused", "An admin token is visible ASCII characters without spaces.");
    }
    this.#token = token;
    this.#send = send;
  }

  /** The answer to a request, null where it has none; throws a {@link Failure}. */
  async ask<Schema extends TSchema>(
    schema: Schema,
    path: string,
    request: RegistryRequest = {},
  ): Promise<Static<Schema>> {
    return (await this.askTagged(schema, path, request)).answer;
  }

  async askTagged<Schema extends TSchema>(
    schema: Schema,
    path: string,
    request: RegistryRequest = {},
  ): Promise<Tagged<Static<Schema>>> {
    const writes = (request.method ?? "GET") !== "GET" && request.query?.dry_run !== "true";
    const { response, text } = await this.#exchange(path, request, writes);
    const value = response.status === 204 ? null : parsed(text);
    if (response.ok && Value.Check(schema, value))
      return { answer: value, etag: response.headers.get("etag") };
    if (!response.ok && Value.Check(ErrorEnvelope, value)) throw failureOf(response.status, value, writes);
    if (response.status >= 500) throw away(writes);
    throw new Failure("strange", `What answers here is no registry of this version (${response.status}).`, {
      outcome_unknown: writes,
    });
  }

  async #exchange(path: string, { method, query, headers, body }: RegistryRequest, writes: boolean) {
    const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
    try {
      const response = await this.#send(`${path}${search}`, {
        method: method ?? "GET",
        headers: { Authorization: `Bearer ${this.#token}`, ...headers },
        ...(body !== undefined && { body }),
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS + Number(query?.wait_ms ?? 0)),
      });
      return { response, text: await response.text() };
    } catch {
      throw away(writes);
    }
  }
}

function away(writes: boolean): Failure {
  return new Failure("away", "The registry does not answer.", { outcome_unknown: writes });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no schema takes it
  }
}

/** A path with its parts escaped: `pathTo("services", name)`. */
export function pathTo(...segments: (string | number)[]): string {
  // URLs read `.` and `..` as steps between folders, and no service has such a name
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    throw new Failure("missing", "No service has such a name.");
  }
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join("");
}
