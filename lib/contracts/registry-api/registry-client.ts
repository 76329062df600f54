import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { tryJson } from "../../domain/json/index.ts";
import { type MarkedChange, markChanges } from "../../domain/routes/index.ts";
import type { DryRun } from "./apply.ts";

export interface RegistryRequest {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer> | string;
}

type RegistryInit = Omit<RequestInit, "headers"> & Pick<RegistryRequest, "headers">;

/** A response with its whole body as text. */
export interface HttpResponse extends Pick<Response, "ok" | "status" | "headers"> {
  body: string;
}

/** A response value with its entity tag. A later write can send the tag as If-Match. */
interface Tagged<Value> {
  value: Value;
  etag: string | null;
}

/** @param refused whether the registry has just refused the current token */
export type TokenSource = (refused: boolean) => Promise<string>;

/** A client of the registry's admin API. The token is kept only in a private field. */
export abstract class RegistryApi {
  readonly #token: string | TokenSource;
  readonly #timeoutMs: number;

  /** @param token one token for all requests, or a function that returns the current token and renews it after a 401 */
  constructor(token: string | TokenSource, timeoutMs: number) {
    this.#token = token;
    this.#timeoutMs = timeoutMs;
  }

  /** Returns the parsed response, or null for a 204. Throws the error of {@link send} or {@link failure} otherwise. */
  async call<Schema extends TSchema>(
    schema: Schema,
    path: string,
    request: RegistryRequest = {},
  ): Promise<Static<Schema>> {
    return (await this.callTagged(schema, path, request)).value;
  }

  async callTagged<Schema extends TSchema>(
    schema: Schema,
    path: string,
    { method = "GET", query, headers, body }: RegistryRequest = {},
  ): Promise<Tagged<Static<Schema>>> {
    const writing = method !== "GET" && query?.dry_run !== "true";
    const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
    const request = {
      method,
      headers,
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(this.#timeoutMs + Number(query?.wait_ms ?? 0)),
    };
    const response = await this.#authorized(`${path}${search}`, request, writing);
    const value = response.status === 204 ? null : tryJson(response.body, JSON.parse);
    if (response.ok && Value.Check(schema, value)) return { value, etag: response.headers.get("etag") };
    throw this.failure(response, value, writing);
  }

  /** After a 401, sends the request once more with a new token: a refused request has no effect. */
  async #authorized(path: string, request: RegistryInit, writing: boolean): Promise<HttpResponse> {
    const token = this.#token;
    const sendAs = (bearer: string) =>
      this.send(
        path,
        { ...request, headers: { Authorization: `Bearer ${bearer}`, ...request.headers } },
        writing,
      );
    if (typeof token === "string") return sendAs(token);
    const response = await sendAs(await token(false));
    return response.status === 401 ? sendAs(await token(true)) : response;
  }

  protected abstract send(path: string, request: RequestInit, writing: boolean): Promise<HttpResponse>;

  /** Returns the error for an error response, or for a response of an unexpected shape. */
  protected abstract failure(response: HttpResponse, value: unknown, writing: boolean): Error;
}

/**
 * Escapes the segments of a path. Throws the error from `noName` for an empty segment, `.` and `..`, which URL parsers
 * resolve even when they are escaped.
 */
export function pathOf(segments: readonly (string | number)[], noName: (segment: string) => Error): string {
  return segments
    .map(String)
    .map((segment) => {
      if (segment === "" || segment === "." || segment === "..") throw noName(segment);
      return `/${encodeURIComponent(segment)}`;
    })
    .join("");
}

export type DryRunService = Omit<DryRun["results"][number], "changes"> & { changes: MarkedChange[] };

export function markDryRun(results: DryRun["results"]): DryRunService[] {
  return results.map((each) => ({ ...each, changes: markChanges(each.changes) }));
}
