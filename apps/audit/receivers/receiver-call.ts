import { lookup } from "node:dns";
import { readFileSync } from "node:fs";
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { type Clock, readBounded } from "@ostiary/lib/async";
import { systemErrorCode } from "@ostiary/lib/domain/errors";
import { tryUtf8 } from "@ostiary/lib/domain/json";
import { VERSION } from "@ostiary/lib/runtime/version";
import { mayCall } from "./public-addresses.ts";
import {
  type Target,
  type TargetConfig,
  type TargetRules,
  targetOf,
  targetRulesOf,
  urlProblem,
} from "./targets.ts";

/** The result of a delivery request. `status` is null if there was no response. */
export type CallResult =
  | { outcome: "accepted"; status: number }
  | { outcome: "refused"; status: number | null; error: string; retryAfterMs: number | null }
  /** The caller aborted the request. It is unknown whether the request arrived. */
  | { outcome: "aborted" };

interface ReceiverResponse {
  result: CallResult;
  /** The body as text. Null if there was no response, if the body is too long, or if it is not UTF-8. */
  text: string | null;
}

const CALL_TIMEOUT_MS = 10_000;
/** The default of {@link ReceiverDeps.responseBytesMax}. */
const RESPONSE_BYTES_MAX = 4_096;
/**
 * The maximum number of interim responses (1xx) to one request. Without a limit, a receiver could send them for ever.
 */
const PROVISIONAL_MAX = 16;
/** The range of HTTP statuses (RFC 9110, 15). */
const STATUS_MIN = 100;
const STATUS_MAX = 599;
const NOT_HTTP = "The receiver's response is not HTTP.";
/** The longest pause that a receiver can ask for. */
const RETRY_AFTER_S_MAX = 86_400;

/** The function that finds the addresses of a host name: `lookup` of `node:dns`, or a replacement in tests. */
type Resolve = typeof lookup;

export interface ReceiverDeps {
  rules: TargetRules;
  clock: Clock;
  /** The certificates of CAs that replace the public CAs, in PEM form. */
  ca?: string;
  resolve?: Resolve;
  /** The maximum number of bytes that are read from a response. The connection of a longer response is closed. */
  responseBytesMax?: number;
}

/** Returns the rules for the addresses that the service may call, and the CAs that it trusts. */
export function receiverDepsOf(
  config: TargetConfig & { AUDIT_STREAM_CA_FILE?: string },
  clock: Clock,
): ReceiverDeps {
  const caFile = config.AUDIT_STREAM_CA_FILE;
  return {
    rules: targetRulesOf(config),
    clock,
    ...(caFile !== undefined && { ca: readFileSync(caFile, "utf8") }),
  };
}

/** The error for a host name without an address that may be called. */
class ForbiddenAddress extends Error {}
class ResponseTooLong extends Error {}

/**
 * Sends delivery requests to one receiver over a connection that stays open between requests. Each new connection
 * resolves the name and checks the addresses, so a later DNS response cannot bypass the check (AU-100).
 */
export class Receiver {
  readonly #deps: ReceiverDeps;
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #target: Target | null;
  readonly #problem: string | null;

  constructor(url: string, deps: ReceiverDeps) {
    this.#deps = deps;
    // the operator's rules may have changed since the URL was stored
    this.#problem = urlProblem(url, deps.rules);
    this.#target = this.#problem === null ? targetOf(url) : null;
    const keep = { keepAlive: true, maxSockets: 1 };
    this.#agent =
      this.#target?.isHttps === false
        ? new HttpAgent(keep)
        : new HttpsAgent({ ...keep, ...(deps.ca !== undefined && { ca: deps.ca }) });
  }

  /** Posts a body. An aborted `signal` ends the request at once. */
  async post(body: Buffer, headers: Record<string, string>, signal?: AbortSignal): Promise<CallResult> {
    return (await this.ask(body, headers, signal)).result;
  }

  /** Posts a body like {@link post}, and also returns the body of the response. */
  async ask(body: Buffer, headers: Record<string, string>, signal?: AbortSignal): Promise<ReceiverResponse> {
    const target = this.#target;
    if (target === null) {
      return withoutResponse(
        refusal(null, `The operator's settings forbid calls to this address: ${this.#problem}`),
      );
    }
    const untilMs = this.#deps.clock.elapsedMs() + CALL_TIMEOUT_MS;
    const attempt = () => this.#attempt(target, body, headers, { untilMs, signal });
    // tries once more if the receiver closed the idle connection just before its reuse
    const response = (await attempt()) ?? (await attempt());
    return response ?? withoutResponse(refusal(null, "The connection was reset."));
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Returns null if the reused connection was reset. */
  #attempt(
    target: Target,
    body: Buffer,
    headers: Record<string, string>,
    { untilMs, signal }: { untilMs: number; signal: AbortSignal | undefined },
  ): Promise<ReceiverResponse | null> {
    const { clock } = this.#deps;
    const { promise, resolve } = Promise.withResolvers<ReceiverResponse | null>();
    if (signal?.aborted) return Promise.resolve(withoutResponse({ outcome: "aborted" }));
    const request = (target.isHttps ? httpsRequest : httpRequest)(this.#options(target, body, headers));
    const finish = (result: CallResult | null, bytes: Buffer | null = null) => {
      cancel();
      signal?.removeEventListener("abort", onAbort);
      resolve(result && { result, text: (bytes && tryUtf8(bytes, "keep")) ?? null });
    };
    const onAbort = () => {
      finish({ outcome: "aborted" });
      request.destroy();
    };
    const cancel = clock.after(Math.max(0, untilMs - clock.elapsedMs()), () => {
      finish(refusal(null, `The receiver did not respond within ${CALL_TIMEOUT_MS / 1_000} s.`));
      request.destroy();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
    request.on("error", (error) => {
      finish(request.reusedSocket && isReset(error) ? null : refusal(null, sentenceOf(error)));
    });
    let provisional = 0;
    request.on("information", () => {
      if (++provisional <= PROVISIONAL_MAX) return;
      finish(refusal(null, `The receiver sent more than ${PROVISIONAL_MAX} provisional responses.`));
      request.destroy();
    });
    request.on("response", (response) => {
      readBody(response, this.#deps.responseBytesMax ?? RESPONSE_BYTES_MAX).then(
        (bytes) => finish(resultOf(response, clock.now()), bytes),
        (error) => finish(refusal(null, sentenceOf(error))),
      );
    });
    request.end(body);
    return promise;
  }

  #options({ url, host, port }: Target, body: Buffer, headers: Record<string, string>): RequestOptions {
    return {
      method: "POST",
      hostname: host,
      port,
      path: `${url.pathname}${url.search}`,
      agent: this.#agent,
      lookup: this.#lookup,
      headers: {
        Host: url.host,
        "Content-Type": "application/json",
        "Content-Length": String(body.length),
        "User-Agent": `Ostiary/${VERSION}`,
        Accept: "*/*",
        ...headers,
      },
    };
  }

  /** Resolves a host name, and returns only addresses that may be called. */
  readonly #lookup: LookupFunction = (host, options, callback) => {
    const { resolve = lookup, rules } = this.#deps;
    resolve(host, { all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "");
      const allowed = addresses.filter(({ address }) => mayCall(address, rules.networks));
      const [first] = allowed;
      if (first === undefined) return callback(new ForbiddenAddress(host), "");
      if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

function withoutResponse(result: CallResult): ReceiverResponse {
  return { result, text: null };
}

function refusal(status: number | null, error: string, retryAfterMs: number | null = null): CallResult {
  return { outcome: "refused", status, error, retryAfterMs };
}

/**
 * Reads a response to its end, so that the connection can be reused. Returns null for a response that is too
 * long: the unfinished iteration over its body closes the connection.
 */
async function readBody(response: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  try {
    return await readBounded(response, bytesMax, () => new ResponseTooLong());
  } catch (error) {
    if (error instanceof ResponseTooLong) return null;
    throw error;
  }
}

function resultOf({ statusCode: status = 0, headers }: IncomingMessage, nowMs: number): CallResult {
  if (status < STATUS_MIN || status > STATUS_MAX) return refusal(null, NOT_HTTP);
  if (status >= 200 && status < 300) return { outcome: "accepted", status };
  const error =
    status >= 300 && status < 400
      ? `The receiver responded with ${status}, and redirects are not followed.`
      : `The receiver responded with ${status}.`;
  return refusal(status, error, retryAfterMs(headers["retry-after"], timeOf(headers.date) ?? nowMs));
}

/**
 * Parses the receiver's Date header, or returns null. A Retry-After date is compared with this time of the receiver,
 * so a wrong clock of the receiver does not matter.
 */
function timeOf(date: string | undefined): number | null {
  const timeMs = Date.parse(date ?? "");
  return Number.isNaN(timeMs) ? null : timeMs;
}

/**
 * Returns the pause that a Retry-After header requests (RFC 9110): seconds, or a date that is compared with
 * `nowMs`. Returns null if there is no valid header.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const isDate = /^[A-Z]/i.test(header);
  const seconds = /^\d{1,9}$/.test(header)
    ? Number(header)
    : isDate
      ? (Date.parse(header) - nowMs) / 1_000
      : Number.NaN;
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), RETRY_AFTER_S_MAX) * 1_000;
}

function isReset(error: unknown): boolean {
  return ["ECONNRESET", "EPIPE"].includes(systemErrorCode(error) ?? "");
}

const SENTENCES: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "The receiver refused the connection."],
  ["ECONNRESET", "The receiver reset the connection."],
  ["EPIPE", "The receiver reset the connection."],
  ["ETIMEDOUT", "The receiver's address does not respond."],
  ["EHOSTUNREACH", "The receiver's address does not respond."],
  ["ENETUNREACH", "The receiver's address does not respond."],
  ["ENOTFOUND", "The receiver's name has no address."],
  ["EAI_AGAIN", "The receiver's name could not be resolved."],
]);

/**
 * Returns the reason why a delivery request failed, as a sentence for the organization. The sentence reveals nothing
 * about the operator's networks.
 */
function sentenceOf(error: unknown): string {
  if (error instanceof ForbiddenAddress) return "The receiver's name has no address that may be called.";
  const code = systemErrorCode(error) ?? "";
  const known = SENTENCES.get(code);
  if (known !== undefined) return known;
  if (/CERT|SSL|TLS|VERIFY|ISSUER|ALTNAME/.test(code))
    return `The receiver's certificate is not valid (${code}).`;
  return NOT_HTTP;
}
