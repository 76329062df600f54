import { type Credential, readText, sleep, transport } from "@ostiary/client";
import { tryJson } from "@ostiary/lib/domain/json";
import { RATE_LIMIT_HEADERS } from "@ostiary/lib/domain/ratelimit";
import { failed, failureOf, type Result, succeeded } from "@ostiary/lib/page/failure";
import { type Signal, signal } from "@preact/signals";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** The caller whose credential a call sends: the member's session, the person's access token, or none. */
export type Caller = "member" | "person" | "nobody";

export interface Call {
  /** By default, the caller that an operation of the platform's own services takes. */
  as?: Caller;
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  query?: Readonly<Record<string, string | number | undefined>>;
  body?: unknown;
  /** A body to send unchanged, instead of `body`. */
  content?: { readonly type: string; readonly text: string };
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/** The credentials of the person who is signed in. They are kept in memory only. */
export type Credentials = Readonly<Record<Exclude<Caller, "nobody">, Credential>>;

/** The error of a credential that cannot be had. */
export class NoCredential extends Error {
  readonly result: Result<never>;

  constructor(result: Result<never>) {
    super();
    this.result = result;
  }
}

/** A rate limit that makes calls wait. */
interface Waiting {
  /** The time when the calls are retried, in milliseconds since the epoch. */
  readonly untilMs: number;
  readonly limit: string | null;
  readonly remaining: string | null;
}

/** The page size of lists, which is the maximum that services allow. */
const PAGE_ITEMS = 100;

const TIMEOUT_MS = 30_000;
const WAITS_MAX = 3;
/** The maximum size of a response that the page parses. */
const BODY_BYTES_MAX = 33_554_432;

/** The browser functions that calls use. Tests replace them. */
interface Surroundings {
  fetch?(request: Request): Promise<Response>;
  sleep: typeof sleep;
}

/** Calls the gateway that serves this page. Failed calls return a failure and do not throw. */
export class Gateway {
  readonly #credentials: Credentials;
  readonly #origin: string;
  readonly #around: Surroundings;
  /** The rate limit that makes calls wait now, or null. */
  readonly waiting: Signal<Waiting | null> = signal(null);

  /** @param origin the origin of the page, which the gateway serves */
  constructor(credentials: Credentials, origin: string, around: Surroundings = { sleep }) {
    this.#credentials = credentials;
    this.#origin = origin;
    this.#around = around;
  }

  /** Makes a call and parses its response. Drops fields that the schema does not have. */
  async send<Schema extends TSchema>(
    schema: Schema,
    path: string,
    call: Call = {},
  ): Promise<Result<Static<Schema>>> {
    const response = await this.#request(path, call, TIMEOUT_MS);
    return response.ok ? parsed(schema, response.value, call) : response;
  }

  /** Reads a page of a list. `name` is the property of the response that has the items. */
  async list<Item extends TSchema>(
    name: string,
    item: Item,
    path: string,
    query: NonNullable<Call["query"]> = {},
  ): Promise<Result<{ items: Static<Item>[]; has_more: boolean }>> {
    const shape = Type.Object({ [name]: Type.Array(Type.Unknown()), has_more: Type.Boolean() });
    const page = await this.send(shape, path, { query: { limit: PAGE_ITEMS, ...query } });
    if (!page.ok) return page;
    const items: unknown = Value.Clean(Type.Array(item), page.value[name]);
    if (!Value.Check(Type.Array(item), items)) return failed("unexpected");
    return succeeded({ items, has_more: page.value.has_more === true });
  }

  /**
   * Makes a call without a timeout, for large responses such as exports. Returns the response with an unread
   * body.
   */
  stream(path: string, call: Call = {}): Promise<Result<Response>> {
    return this.#request(path, call);
  }

  /**
   * Calls any service without a timeout, and returns its response, even an error or a redirect. After a rate
   * limit, retries only GET and HEAD. After a refused credential, retries all methods except POST and PATCH
   * (PT-48).
   */
  exchange(path: string, call: Call): Promise<Result<Response>> {
    return this.#exchange(path, call, ofAnyService);
  }

  /** Returns the header with the credential for an operation of the platform's own services. */
  async credential(path: string): Promise<Result<Record<string, string>>> {
    const { [callerOf(path)]: credential } = this.#credentials;
    try {
      return succeeded({ [credential.header]: await credential.value(null) });
    } catch (error) {
      return resultOf(error, false);
    }
  }

  async #request(path: string, call: Call, timeoutMs?: number): Promise<Result<Response>> {
    const response = await this.#exchange(path, call, ofPlatform, timeoutMs);
    if (!response.ok || response.value.ok) return response;
    const text = await response.value.text().catch(() => "");
    return failureOf(response.value, tryJson(text), isWrite(call));
  }

  async #exchange(
    path: string,
    call: Call,
    repeats: (method: string, status: number | null) => boolean,
    timeoutMs = Number.POSITIVE_INFINITY,
  ): Promise<Result<Response>> {
    const { as = callerOf(path), method = "GET", query = {}, signal } = call;
    const send = transport({
      baseUrl: this.#origin,
      credential: as === "nobody" ? undefined : this.#credentials[as],
      timeoutMs,
      retries: WAITS_MAX,
      repeats,
      wait: (ms, signal, response) => this.#wait(ms, response?.headers ?? new Headers(), signal),
      fetch: this.#around.fetch,
    });
    const content = contentOf(call);
    const request = new Request(`${this.#origin}${path}${queryText(query)}`, {
      method,
      headers: {
        Accept: "application/json",
        ...(content !== undefined && { "Content-Type": content.type }),
        ...call.headers,
      },
      body: content?.text,
      signal,
      cache: "no-store",
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
    try {
      return succeeded(await send(request));
    } catch (error) {
      return resultOf(error, isWrite(call));
    }
  }

  async #wait(ms: number, headers: Headers, signal: AbortSignal): Promise<void> {
    const waiting = {
      untilMs: Date.now() + ms,
      limit: headers.get(RATE_LIMIT_HEADERS.limit),
      remaining: headers.get(RATE_LIMIT_HEADERS.remaining),
    };
    this.waiting.value = waiting;
    try {
      await this.#around.sleep(ms, signal);
    } finally {
      if (this.waiting.value === waiting) this.waiting.value = null;
    }
  }
}

/** Returns whose credential an operation of the platform's own services takes. */
export function callerOf(path: string): "member" | "person" {
  return /^\/(?:org|member)(?:\/|$)/.test(path) ? "member" : "person";
}

/** Parses a response. Drops fields that the schema does not have. */
export async function parsed<Schema extends TSchema>(
  schema: Schema,
  response: Response,
  call: Pick<Call, "method" | "signal">,
): Promise<Result<Static<Schema>>> {
  const known = { status: response.status, outcomeUnknown: isWrite(call) };
  try {
    const text = await readText(response, BODY_BYTES_MAX, call.signal ?? AbortSignal.timeout(TIMEOUT_MS));
    const value: unknown = Value.Clean(schema, text === "" ? null : JSON.parse(text));
    return Value.Check(schema, value) ? succeeded(value) : failed("unexpected", known);
  } catch {
    return failed("unavailable", known);
  }
}

/** Returns the result of a call that got no response. */
function resultOf(error: unknown, outcomeUnknown: boolean): Result<never> {
  return error instanceof NoCredential ? error.result : failed("unavailable", { outcomeUnknown });
}

/** Repeats calls of the platform's own services, which do nothing before the gateway admits a request. */
function ofPlatform(_method: string, status: number | null): boolean {
  return status === 401 || status === 429;
}

/** Repeats calls of any service: its own 401 or 429 may come after a change (PT-48). */
function ofAnyService(method: string, status: number | null): boolean {
  if (status === 401) return method !== "POST" && method !== "PATCH";
  return status === 429 && !isWrite({ method });
}

export function isWrite({ method = "GET" }: { method?: string }): boolean {
  return method !== "GET" && method !== "HEAD";
}

function contentOf({ body, content }: Call): Call["content"] {
  return body === undefined ? content : { type: "application/json", text: JSON.stringify(body) };
}

function queryText(query: NonNullable<Call["query"]>): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

/** Returns a path with its segments escaped: `pathTo("org", "members", id)`. */
export function pathTo(...segments: readonly string[]): string {
  // Replace segments that are empty, "." or "..": browsers resolve dots even if they are escaped.
  return `/${segments.map((segment) => (/^\.{0,2}$/.test(segment) ? "-" : encodeURIComponent(segment))).join("/")}`;
}

/**
 * Returns at most the first `bytesMax` bytes of a body, and cancels the rest. `cut` is true if the body is
 * longer or the download failed.
 */
export async function readBytes(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  bytesMax: number,
): Promise<{ bytes: Uint8Array; cut: boolean }> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  let cut = false;
  const reader = body?.getReader();
  try {
    while (reader !== undefined && length <= bytesMax) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
      length += value.length;
    }
    cut = length > bytesMax;
    // Do not wait: the body of a cloned response is canceled only when the other clone is read or canceled.
    if (cut) void reader?.cancel().catch(() => {});
  } catch {
    cut = true;
  }
  const bytes = await new Blob(pieces).slice(0, bytesMax).arrayBuffer();
  return { bytes: new Uint8Array(bytes), cut };
}
