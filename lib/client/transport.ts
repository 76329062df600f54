import { OstiaryError } from "./client-errors.ts";
import type { Credential } from "./credentials.ts";
import { isRefusal, retryAfterOf } from "./responses.ts";
import { orAborted, sleep } from "./time.ts";

export interface TransportOptions {
  /** The URL of the gateway. It may have a path. */
  readonly baseUrl: string;
  /** The credential of each call. Without one, only public routes can be called. */
  readonly credential?: Credential | undefined;
  /** How long a response may take, without its body, in each attempt. 30 seconds by default, or Infinity. */
  readonly timeoutMs?: number | undefined;
  /** How often a read is repeated after 429, 502, 503 or a failed connection. Twice by default. */
  readonly retries?: number | undefined;
  /**
   * The longest wait before a repetition. A longer Retry-After ends the call. 60 seconds by default, at most 24 days.
   */
  readonly waitMaxMs?: number | undefined;
  /**
   * Returns whether a request may be sent again after a response with this status, or without a response
   * (null). By default GET and HEAD may, and after a renewed credential (401) all methods but POST and PATCH.
   */
  readonly repeats?: ((method: string, status: number | null) => boolean) | undefined;
  /** Waits before a repetition. Rejects when the signal is aborted. A page can show the wait. */
  readonly wait?: ((ms: number, signal: AbortSignal, response: Response | null) => Promise<void>) | undefined;
  /** The function that sends requests, `fetch` by default. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/** Sends requests with a credential, and repeats them where that is safe. */
export type Transport = (request: Request) => Promise<Response>;

const TIMEOUT_MS = 30_000;
/** The longest time that timers take. */
const TIMER_MAX_MS = 2_147_483_647;
const RETRIES = 2;
const WAIT_MAX_MS = 60_000;
/** The wait before the first repetition without Retry-After. Each further wait is twice as long. */
const BACKOFF_MS = 200;

/** Checks a base URL and returns it without trailing slashes. */
export function baseUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.username + url.password + url.search + url.hash === "";
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw new TypeError("baseUrl must be an http or https URL without credentials, query and fragment.");
  return url.href.replace(/\/+$/, "");
}

/** Returns a time limit for a timer. */
export function timerOf(timeoutMs = TIMEOUT_MS): number {
  return Math.min(timeoutMs, TIMER_MAX_MS);
}

/** Checks options that are numbers, for callers without types. */
export function requireNumbers(options: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(options))
    if (typeof value !== "number" || !(value >= 0))
      throw new TypeError(`${name} must be a number that is not negative.`);
}

/** Makes the function that sends all requests of a client. */
export function transport(options: TransportOptions): Transport {
  const { credential, retries = RETRIES } = options;
  const timeoutMs = timerOf(options.timeoutMs);
  const waitMaxMs = timerOf(options.waitMaxMs ?? WAIT_MAX_MS);
  requireNumbers({ timeoutMs, retries, waitMaxMs });
  const { repeats = repeatsReads, wait = sleep } = options;
  const { origin } = new URL(baseUrlOf(options.baseUrl));
  const send = options.fetch ?? ((request: Request) => fetch(request));

  /** Returns how long to wait before a repetition, or null if the response is final. */
  function waitBefore(repetition: number, method: string, response: Response | null): number | null {
    const isTemporary = response === null || [429, 502, 503].includes(response.status);
    if (!isTemporary || repetition >= retries || !repeats(method, response?.status ?? null)) return null;
    const seconds = response === null ? null : retryAfterOf(response);
    // Up to half more, so that callers that failed together do not return together.
    const backoffMs = BACKOFF_MS * 2 ** repetition * (1 + Math.random() / 2);
    const waitMs = seconds === null ? backoffMs : seconds * 1_000;
    return waitMs <= waitMaxMs ? waitMs : null;
  }

  return async (request) => {
    const { method, signal, url } = request;
    // The credential goes to the base URL's origin only.
    if (new URL(url).origin !== origin)
      throw new TypeError("The request leads to another origin than baseUrl.");
    const copy = await copierOf(request);
    /** The value of the credential's header, or null before the first attempt and without a credential. */
    let value: string | null = null;

    /** Sends one attempt with the credential. Returns the error, if there was no response. */
    async function attempt(): Promise<Response | OstiaryError> {
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(), timeoutMs);
      try {
        const headers = new Headers(request.headers);
        if (credential !== undefined && value !== null) headers.set(credential.header, value);
        const ends = AbortSignal.any([signal, deadline.signal]);
        const sent = copy(headers, ends);
        // Waits no longer than the deadline, even if the function that sends does not know signals.
        return await orAborted(ends, () => send(sent));
      } catch (cause) {
        signal.throwIfAborted();
        const message = deadline.signal.aborted
          ? `The server did not respond within ${timeoutMs} ms.`
          : "The connection to the server failed.";
        return new OstiaryError({ code: "NO_RESPONSE", message, cause });
      } finally {
        clearTimeout(timer);
      }
    }

    /** Makes an attempt, and another one with a renewed credential if the gateway refuses the first one. */
    async function authenticated(): Promise<Response | OstiaryError> {
      value ??= await headerValue(credential, null, signal);
      const result = await attempt();
      if (value === null || result instanceof OstiaryError) return result;
      const ends = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      if (!(await isRefusal(result, ends))) return result;
      const refused = value;
      value = await headerValue(credential, refused, signal);
      if (value === refused || !repeats(method, result.status)) return result;
      discard(result);
      return attempt();
    }

    for (let repetition = 0; ; repetition++) {
      const result = await authenticated();
      const response = result instanceof OstiaryError ? null : result;
      const waitMs = waitBefore(repetition, method, response);
      if (waitMs === null) {
        if (result instanceof OstiaryError) throw result;
        return result;
      }
      discard(response);
      await wait(waitMs, signal, response);
    }
  };
}

/**
 * Returns whether a request may be sent again. A read may. After a 401, so may an idempotent request (RFC 9110, 9.2.2),
 * but no other: a service that imitates the gateway's 401 may have made the change.
 */
function repeatsReads(method: string, status: number | null): boolean {
  if (reads(method)) return true;
  return status === 401 && method !== "POST" && method !== "PATCH";
}

/** Returns a function that copies a request for an attempt. */
async function copierOf(request: Request): Promise<(headers: Headers, signal: AbortSignal) => Request> {
  // A page sends a cloned body as a stream, which older protocols and debuggers do not know.
  const bytes = reads(request.method) ? undefined : await request.arrayBuffer();
  const body = bytes?.byteLength === 0 ? undefined : bytes;
  const { url, method, cache, credentials, keepalive, referrerPolicy } = request;
  const kept = { method, cache, credentials, keepalive, referrerPolicy, body };
  return (headers, signal) => new Request(url, { ...kept, headers, signal, redirect: "manual" });
}

function reads(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/** Gives the connection of an unread response back. */
function discard(response: Response | null): void {
  void response?.body?.cancel().catch(() => {});
}

/** Returns the value of the credential's header, or null without a credential. */
async function headerValue(
  credential: Credential | undefined,
  refused: string | null,
  signal: AbortSignal,
): Promise<string | null> {
  if (credential === undefined) return null;
  const value = await orAborted(signal, async () => credential.value(refused, signal));
  // The error of the runtime would show the secret.
  if (!/^[\x21-\x7e]+( [\x21-\x7e]+)?$/.test(value))
    throw new TypeError("The credential must be a text of visible ASCII characters.");
  return value;
}
