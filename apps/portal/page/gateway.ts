import { ErrorEnvelope } from "@ostiary/lib/domain/errors";
import { tryJson } from "@ostiary/lib/domain/json";
import { LIMIT_SET_HEADERS, RATE_LIMIT_HEADERS } from "@ostiary/lib/domain/ratelimit";
import { type Answer, answered, failed, failureOf, secondsOf } from "@ostiary/lib/page/failure";
import { type Signal, signal } from "@preact/signals";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** The caller whose credential a call sends: the member's session, the person's access token, or none. */
export type Caller = "member" | "person" | "nobody";

export interface Call {
  as: Caller;
  /** GET by default. */
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  query?: Readonly<Record<string, string | number | undefined>>;
  /** A value to send as a JSON body. */
  body?: unknown;
  /** A body to send unchanged, instead of `body`. */
  content?: { readonly type: string; readonly text: string };
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/** The credentials of the person who is signed in. They are kept in memory only. */
interface Credentials {
  /**
   * Returns the headers with the caller's credential.
   *
   * @param renewed whether to renew the credential first, because the current one was refused
   */
  headers(caller: Caller, renewed: boolean): Promise<Answer<Record<string, string>>>;
}

/** A rate limit that makes calls wait. */
interface Waiting {
  /** The time when the calls are retried, in milliseconds since the epoch. */
  readonly untilMs: number;
  readonly limit: string | null;
  readonly remaining: string | null;
  readonly policy: string | null;
}

const TIMEOUT_MS = 30_000;
/** The longest Retry-After for which a call waits. */
const WAIT_SECONDS_MAX = 60;
const WAITS_MAX = 3;

/** The browser functions that calls use. Tests replace them. */
interface Surroundings {
  fetch(address: string, request: RequestInit): Promise<Response>;
  now(): number;
  /** Waits for `ms` milliseconds, or until the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

const BROWSER: Surroundings = {
  fetch: (address, request) => fetch(address, request),
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((done) => {
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", () => {
        clearTimeout(timer);
        done();
      });
    }),
};

/** Calls the gateway that serves this page. Failed calls return a failure and do not throw. */
export class Gateway {
  readonly #credentials: Credentials;
  readonly #around: Surroundings;
  /** The rate limit that makes calls wait now, or null. */
  readonly waiting: Signal<Waiting | null> = signal(null);

  constructor(credentials: Credentials, around: Surroundings = BROWSER) {
    this.#credentials = credentials;
    this.#around = around;
  }

  /** Makes a call and parses its response. Drops fields that the schema does not have. */
  async send<Schema extends TSchema>(
    schema: Schema,
    path: string,
    call: Call,
  ): Promise<Answer<Static<Schema>>> {
    const writes = isWrite(call);
    const response = await this.#answer(path, call, TIMEOUT_MS);
    if (!response.ok) return response;
    const { status } = response.value;
    try {
      const text = await response.value.text();
      const value: unknown = Value.Clean(schema, text === "" ? null : JSON.parse(text));
      if (Value.Check(schema, value)) return answered(value);
      return failed("strange", { status, outcomeUnknown: writes });
    } catch {
      return failed("away", { status, outcomeUnknown: writes });
    }
  }

  /** Reads one page of a list. */
  async list<Item extends TSchema>(
    name: string,
    item: Item,
    path: string,
    call: Call,
  ): Promise<Answer<{ items: Static<Item>[]; has_more: boolean }>> {
    const shape = Type.Object({ [name]: Type.Array(Type.Unknown()), has_more: Type.Boolean() });
    const page = await this.send(shape, path, call);
    if (!page.ok) return page;
    const items: unknown = Value.Clean(Type.Array(item), page.value[name]);
    if (!Value.Check(Type.Array(item), items)) return failed("strange");
    return answered({ items, has_more: page.value.has_more === true });
  }

  /**
   * Makes a call without a timeout, for large responses such as exports. Returns the response with an unread
   * body.
   */
  stream(path: string, call: Call): Promise<Answer<Response>> {
    return this.#answer(path, call);
  }

  /**
   * Calls any service without a timeout, and returns its response, even an error or a redirect. After a rate
   * limit, retries only GET and HEAD. After a refused credential, retries all methods except POST and PATCH
   * (PT-48).
   */
  exchange(path: string, call: Call): Promise<Answer<Response>> {
    return this.#exchange(path, call, { redirect: "manual", ofAnyService: true });
  }

  /** Returns the headers with the caller's credential, for calls that a worker makes. */
  credential(caller: Caller): Promise<Answer<Record<string, string>>> {
    return this.#credentials.headers(caller, false);
  }

  async #answer(path: string, call: Call, timeoutMs?: number): Promise<Answer<Response>> {
    const response = await this.#exchange(path, call, { redirect: "error", timeoutMs });
    if (!response.ok || response.value.ok) return response;
    const text = await response.value.text().catch(() => "");
    return failureOf(response.value, tryJson(text), isWrite(call));
  }

  /** Makes a call and retries it: once after a refused credential, and after rate limits that end soon. */
  async #exchange(path: string, call: Call, options: Attempt): Promise<Answer<Response>> {
    let renewed = false;
    for (let waits = 0; ; ) {
      const response = await this.#once(path, call, renewed, options);
      if (!response.ok) return response;
      const { status, headers } = response.value;
      if (status === 401 && call.as !== "nobody" && !renewed && (await isRefusal(response.value, call))) {
        renewed = true;
        if (!options.ofAnyService || isIdempotent(call)) continue;
        // Renew the credential for the next call, but do not retry this call: the 401 may come from a service
        // that has already made the change.
        await this.#credentials.headers(call.as, true);
        return response;
      }
      const seconds = secondsOf(headers.get("Retry-After"));
      const isShort = seconds !== null && seconds <= WAIT_SECONDS_MAX;
      const mayWait = waits < WAITS_MAX && !(options.ofAnyService && isWrite(call));
      if (status !== 429 || !isShort || !mayWait) return response;
      waits += 1;
      await this.#wait(seconds, headers, call.signal);
    }
  }

  async #wait(seconds: number, headers: Headers, signal: AbortSignal | undefined): Promise<void> {
    const waiting = {
      untilMs: this.#around.now() + seconds * 1_000,
      limit: headers.get(RATE_LIMIT_HEADERS.limit),
      remaining: headers.get(RATE_LIMIT_HEADERS.remaining),
      policy: headers.get(LIMIT_SET_HEADERS.policies),
    };
    this.waiting.value = waiting;
    await this.#around.sleep(seconds * 1_000, signal);
    if (this.waiting.value === waiting) this.waiting.value = null;
  }

  async #once(
    path: string,
    call: Call,
    renewed: boolean,
    { redirect, timeoutMs }: Attempt,
  ): Promise<Answer<Response>> {
    const credential = await this.#credentials.headers(call.as, renewed);
    if (!credential.ok) return credential;
    const { method = "GET", query = {}, headers, signal } = call;
    const content = contentOf(call);
    // Without a caller's signal, each attempt has its own timeout, which excludes waits for a rate limit.
    const ends = signal ?? (timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs));
    try {
      return answered(
        await this.#around.fetch(`${path}${queryText(query)}`, {
          method,
          headers: {
            Accept: "application/json",
            ...(content !== undefined && { "Content-Type": content.type }),
            ...headers,
            ...credential.value,
          },
          body: content?.text,
          signal: ends,
          cache: "no-store",
          credentials: "omit",
          redirect,
          referrerPolicy: "no-referrer",
        }),
      );
    } catch {
      return failed("away", { outcomeUnknown: isWrite(call) });
    }
  }
}

/** The options of one attempt of a call. */
interface Attempt {
  readonly redirect: "error" | "manual";
  readonly timeoutMs?: number;
  /** Whether the response may come from any service, not only from a service of the platform. */
  readonly ofAnyService?: boolean;
}

/** Returns whether a call may change something. */
export function isWrite({ method = "GET" }: Pick<Call, "method">): boolean {
  return method !== "GET" && method !== "HEAD";
}

/** Returns whether a repeated call has the same effect as one call (RFC 9110, 9.2.2). */
function isIdempotent({ method = "GET" }: Pick<Call, "method">): boolean {
  return method !== "POST" && method !== "PATCH";
}

/** The maximum size of a 401 body that is checked for an error of the gateway. */
const REFUSAL_BYTES_MAX = 16_384;

/**
 * Returns whether a 401 looks like a response of the gateway itself. Reads a clone, so that the body stays
 * readable. Returns true for HEAD, whose response has no body to check.
 */
async function isRefusal(response: Response, { method }: Call): Promise<boolean> {
  if (method === "HEAD") return true;
  const { bytes, cut } = await readBytes(response.clone().body, REFUSAL_BYTES_MAX);
  const body = cut ? undefined : tryJson(new TextDecoder().decode(bytes));
  if (!Value.Check(ErrorEnvelope, body)) return false;
  const { code, request_id } = body.error;
  return code === "UNAUTHORIZED" && request_id === response.headers.get("X-Request-ID");
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
