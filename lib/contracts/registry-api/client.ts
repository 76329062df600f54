import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { tryJson } from "../../domain/json/index.ts";
import { type Change, type MarkedChange, markChanges, namesPolicies } from "../../domain/routes/index.ts";
import type { Preview } from "./apply.ts";
import { Revision } from "./revisions.ts";

export interface RegistryRequest {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer> | string;
}

/** The parts of a request that `fetch` takes, without a credential. */
type RegistryInit = Omit<RequestInit, "headers"> & Pick<RegistryRequest, "headers">;

/** A complete answer. */
export interface HttpAnswer extends Pick<Response, "ok" | "status" | "headers"> {
  body: string;
}

/** An answer, with the tag that a later write can name. */
export interface Tagged<Answer> {
  answer: Answer;
  etag: string | null;
}

/**
 * Returns the token of a request.
 *
 * @param refused whether the registry has just refused the present token, so that a new one is needed
 */
export type TokenSource = (refused: boolean) => Promise<string>;

/** A client of the registry's admin API. It keeps the token in a private field, and nowhere else. */
export abstract class RegistryApi {
  readonly #token: string | TokenSource;
  readonly #timeout_ms: number;

  /** @param token the token of every request, or a function that renews a token which the registry refuses */
  constructor(token: string | TokenSource, timeout_ms: number) {
    this.#token = token;
    this.#timeout_ms = timeout_ms;
  }

  /**
   * Sends a request and returns its answer, or null for a 204. Throws what {@link send} or {@link failure}
   * says when there is no answer, an error, or an answer without the shape of `schema`.
   */
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
    { method = "GET", query, headers, body }: RegistryRequest = {},
  ): Promise<Tagged<Static<Schema>>> {
    const writing = method !== "GET" && query?.dry_run !== "true";
    const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
    const request = {
      method,
      headers,
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(this.#timeout_ms + Number(query?.wait_ms ?? 0)),
    };
    const answer = await this.#authorized(`${path}${search}`, request, writing);
    const value = answer.status === 204 ? null : tryJson(answer.body, JSON.parse);
    if (answer.ok && Value.Check(schema, value)) return { answer: value, etag: answer.headers.get("etag") };
    throw this.failure(answer, value, writing);
  }

  /** Sends a request with a token. A 401 did nothing, so the request goes out once more with a new token. */
  async #authorized(path: string, request: RegistryInit, writing: boolean): Promise<HttpAnswer> {
    const token = this.#token;
    const sendAs = (bearer: string) =>
      this.send(
        path,
        { ...request, headers: { Authorization: `Bearer ${bearer}`, ...request.headers } },
        writing,
      );
    if (typeof token === "string") return sendAs(token);
    const answer = await sendAs(await token(false));
    return answer.status === 401 ? sendAs(await token(true)) : answer;
  }

  /** Sends a request to the registry. Throws when there is no answer. */
  protected abstract send(path: string, request: RequestInit, writing: boolean): Promise<HttpAnswer>;

  /** Returns the failure for an error, or for an answer of another shape, with the parsed body `value`. */
  protected abstract failure(answer: HttpAnswer, value: unknown, writing: boolean): Error;
}

/**
 * Returns a path with escaped segments. URLs resolve `.` and `..` even when escaped, and no service has such
 * a name, so for these it throws what `noName` returns.
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

export type PreviewedService = Omit<Preview["results"][number], "changes"> & { changes: MarkedChange[] };

/** Marks the changes of a preview that open a route or break callers. */
export async function markPreviewed(
  registry: RegistryApi,
  previewed: Preview["results"],
): Promise<PreviewedService[]> {
  const services: PreviewedService[] = [];
  for (const each of previewed) {
    services.push({ ...each, changes: await markSince(registry, each.service, each.revision, each.changes) });
  }
  return services;
}

/**
 * Marks the changes since `revision`. If they name policies, it first fetches that revision's policies, which
 * the marks of limits need.
 */
export async function markSince(
  registry: RegistryApi,
  service: string,
  revision: number | null,
  changes: readonly Change[],
): Promise<MarkedChange[]> {
  if (revision === null || !namesPolicies(changes)) return markChanges(changes);
  // a newer revision may exist by now
  const path = `/services/${encodeURIComponent(service)}/revisions/${revision}`;
  const { config } = await registry.ask(Revision, path);
  return markChanges(changes, config?.rate_limits);
}
