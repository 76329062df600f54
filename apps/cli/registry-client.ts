import { readBounded } from "@ostiary/lib/async";
import {
  type Gateway,
  Gateways,
  type HttpAnswer,
  pathOf,
  RegistryApi,
} from "@ostiary/lib/contracts/registry-api";
import { ErrorEnvelope } from "@ostiary/lib/domain/errors";
import { isThisMachine, withoutTrailingSlashes } from "@ostiary/lib/domain/routes";
import { Value } from "@sinclair/typebox/value";
import { Refused, UsageError } from "./exit-codes.ts";
import { unavailableText, unreachableText } from "./unreachable.ts";

/** The registry's address and token, from the environment or a profile. */
export interface RegistryAddress {
  REGISTRY_URL: string | undefined;
  ADMIN_TOKEN: string | undefined;
  /** The profile that supplied the URL and the token. Absent if the environment supplied both. */
  profile?: string;
}

const DEFAULT_URL = "http://localhost:5002";
/** The maximum size of a response, far above what a registry sends. Protects memory from an endless response. */
const RESPONSE_BYTES_MAX = 256 * 1_048_576;

/**
 * A client of the registry's admin API, for one request at a time. Its error messages are for the person at
 * the terminal.
 */
export class RegistryClient extends RegistryApi {
  readonly #url: string;
  readonly #timeoutS: number;
  readonly #note: Readonly<Record<string, string>>;
  #writing = false;

  /** @param note the headers that every write sends */
  constructor(
    { REGISTRY_URL, ADMIN_TOKEN }: RegistryAddress,
    timeoutS: number,
    note: Readonly<Record<string, string>> = {},
  ) {
    const url = readUrl(REGISTRY_URL?.trim() || DEFAULT_URL);
    super(readToken(ADMIN_TOKEN?.trim() ?? ""), timeoutS * 1_000);
    this.#url = url;
    this.#timeoutS = timeoutS;
    this.#note = note;
  }

  /** Returns the running gateways, from all pages of the list. */
  async gateways(): Promise<Gateway[]> {
    const all: Gateway[] = [];
    for (;;) {
      const last = all.at(-1)?.instance;
      const page = last === undefined ? "" : `?starting_after=${last}`;
      const { gateways, has_more } = await this.ask(Gateways, `${pathTo("gateways")}${page}`);
      all.push(...gateways);
      if (!has_more) return all;
    }
  }

  /** Whether a write is in flight. */
  get writing(): boolean {
    return this.#writing;
  }

  protected async send(path: string, request: RequestInit, writing: boolean): Promise<HttpAnswer> {
    this.#writing = writing;
    try {
      const sent = new Headers(request.headers);
      if (writing) for (const [name, value] of Object.entries(this.#note)) sent.set(name, value);
      const { ok, status, headers, body } = await fetch(this.#url + path, {
        ...request,
        headers: sent,
        redirect: "manual",
        ...proxyFor(this.#url),
      });
      const bytes = await readBounded(body, RESPONSE_BYTES_MAX, () => new ResponseTooLong());
      return { ok, status, headers, body: new TextDecoder().decode(bytes) };
    } catch (error) {
      if (error instanceof ResponseTooLong) throw new Refused(`${this.#url} ${TOO_LONG}`);
      throw new Refused(unreachableText(this.#url, error, { timeoutS: this.#timeoutS, writing }));
    } finally {
      this.#writing = false;
    }
  }

  protected failure(answer: HttpAnswer, value: unknown, writing: boolean): Refused {
    if (answer.ok || !Value.Check(ErrorEnvelope, value) || isUnknownPath(answer, value)) {
      return new Refused(`${this.#url} ${notARegistryText(answer)}`);
    }
    const { code, message, request_id } = value.error;
    const outage = unavailableText(message, request_id, writing);
    const text = code === "UNAUTHORIZED" ? UNAUTHORIZED : code === "SERVICE_UNAVAILABLE" ? outage : message;
    return new Refused(text, { envelope: value, writing });
  }
}

const UNAUTHORIZED =
  "The registry does not accept ADMIN_TOKEN: it must be the token that the registry was started with, a token of OPERATORS_FILE, or a JWT of OPERATOR_ISSUER that has not expired. The registry's log at level debug has the reason.";
const TOO_LONG = `responds with more than ${RESPONSE_BYTES_MAX / 1_048_576} MiB, so it is not a route registry: check REGISTRY_URL.`;

/**
 * Returns the options with which `fetch` calls this machine without the proxy of the environment. The proxy could
 * not reach this machine's loopback addresses, but it would read the token.
 */
export function proxyFor(url: string): { proxy?: false } {
  return isThisMachine(new URL(url).hostname) ? { proxy: false } : {};
}

class ResponseTooLong extends Error {}

/**
 * Returns whether the server does not have the path. A registry has every path of this client, and its own 404s have
 * details, so such a server is another part of Ostiary, or the URL has a path.
 */
function isUnknownPath({ status }: HttpAnswer, { error }: ErrorEnvelope): boolean {
  return status === 405 || (status === 404 && error.details === null);
}

const LOCATION_LENGTH_MAX = 200;

/** Says what responded instead of a registry, and what to set. */
function notARegistryText({ status, headers }: HttpAnswer): string {
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null) {
    return `redirects to ${location.slice(0, LOCATION_LENGTH_MAX)}: set REGISTRY_URL to the registry's own address.`;
  }
  return `is not the admin API of a route registry, and responds with status ${status}: set REGISTRY_URL to the address of that API without a path, port 5002 by default.`;
}

/** Returns a path with escaped segments, as in `pathTo("services", name)`. */
export function pathTo(...segments: (string | number)[]): string {
  return pathOf(
    segments,
    (segment) => new UsageError(`${JSON.stringify(segment)} is not a valid service name.`),
  );
}

function readUrl(url: string): string {
  if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/.test(url) || !URL.canParse(url)) {
    throw new UsageError(
      `REGISTRY_URL must be the http:// or https:// address of the registry, such as ${DEFAULT_URL}, without user, query or fragment.`,
    );
  }
  return withoutTrailingSlashes(url);
}

function readToken(token: string): string {
  if (token === "") throw new UsageError("Set ADMIN_TOKEN to the registry's admin token.");
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new UsageError("ADMIN_TOKEN must consist of visible ASCII characters without spaces.");
  }
  return token;
}
