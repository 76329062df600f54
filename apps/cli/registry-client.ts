import { readBounded } from "@ostiary/lib/async";
import {
  type Gateway,
  Gateways,
  type HttpResponse,
  pathOf,
  RegistryApi,
} from "@ostiary/lib/contracts/registry-api";
import { ErrorEnvelope } from "@ostiary/lib/domain/errors";
import { isThisMachine, withoutTrailingSlashes } from "@ostiary/lib/domain/routes";
import { Value } from "@sinclair/typebox/value";
import { Refused, UsageError } from "./exit-codes.ts";
import { onOneLine } from "./terminal.ts";
import { type MessageNames, unavailableText, unreachableText } from "./unreachable.ts";

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

/** The settings of a registry client. */
interface ClientOptions {
  /** The longest wait for a response, in seconds. */
  timeoutS: number;
  /** The headers that every write sends. */
  note?: Readonly<Record<string, string>>;
  /** The command that starts the command line, for messages: `bun cli`, or the name of an executable. */
  program: string;
}

/**
 * A client of the registry's admin API, for one request at a time. Its error messages are for the person at
 * the terminal.
 */
export class RegistryClient extends RegistryApi {
  readonly #url: string;
  readonly #timeoutS: number;
  readonly #note: Readonly<Record<string, string>>;
  readonly #names: MessageNames;
  #writing = false;

  constructor(address: RegistryAddress, { timeoutS, note = {}, program }: ClientOptions) {
    const names = { program, ...settingNames(address.profile) };
    const url = readUrl(address.REGISTRY_URL?.trim() || DEFAULT_URL, names);
    super(readToken(address.ADMIN_TOKEN?.trim() ?? "", names), timeoutS * 1_000);
    this.#names = names;
    this.#url = url;
    this.#timeoutS = timeoutS;
    this.#note = note;
  }

  /** Returns the running gateways, from all pages of the list. */
  async gateways(): Promise<Gateway[]> {
    const all = new Map<string, Gateway>();
    for (let last: string | undefined; ; ) {
      const query = last === undefined ? undefined : { starting_after: last };
      const { gateways, has_more } = await this.call(Gateways, pathTo("gateways"), { query });
      last = gateways.at(-1)?.instance;
      const isNew = last !== undefined && !all.has(last);
      for (const gateway of gateways) all.set(gateway.instance, gateway);
      if (!has_more) return [...all.values()];
      if (!isNew) throw new Refused(`${this.#url} ${endlessText(this.#names)}`);
    }
  }

  /** Whether a write is in flight. */
  get writing(): boolean {
    return this.#writing;
  }

  protected async send(path: string, request: RequestInit, writing: boolean): Promise<HttpResponse> {
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
      if (error instanceof ResponseTooLong) throw new Refused(`${this.#url} ${tooLongText(this.#names)}`);
      const call = { names: this.#names, timeoutS: this.#timeoutS, writing };
      throw new Refused(unreachableText(this.#url, error, call));
    } finally {
      this.#writing = false;
    }
  }

  protected failure(response: HttpResponse, value: unknown, writing: boolean): Refused {
    if (response.ok || !Value.Check(ErrorEnvelope, value) || isUnknownPath(response, value)) {
      return new Refused(`${this.#url} ${notARegistryText(response, this.#names)}`);
    }
    return new Refused(errorText(value.error, { names: this.#names, writing }), { envelope: value, writing });
  }
}

/** Returns the names of the settings of a profile, or of the environment without one. */
function settingNames(profile: string | undefined): Pick<MessageNames, "url" | "token"> {
  if (profile === undefined) return { url: "REGISTRY_URL", token: "ADMIN_TOKEN" };
  return { url: `the url of the profile ${profile}`, token: `the token of the profile ${profile}` };
}

function errorText(
  { code, message: text, request_id }: ErrorEnvelope["error"],
  call: { names: MessageNames; writing: boolean },
): string {
  const message = onOneLine(text);
  if (code === "SERVICE_UNAVAILABLE") return unavailableText(message, onOneLine(request_id), call);
  if (code !== "UNAUTHORIZED") return message;
  return `The registry does not accept ${call.names.token}: it must be the token that the registry was started with, a token of OPERATORS_FILE, or a JWT of OPERATOR_ISSUER that has not expired. The registry's log at level debug has the reason.`;
}

function tooLongText({ url }: MessageNames): string {
  return `responds with more than ${RESPONSE_BYTES_MAX / 1_048_576} MiB, so it is not a route registry: check ${url}.`;
}

function endlessText({ url }: MessageNames): string {
  return `responds with a list whose next page does not begin after a new gateway, so it is not a route registry: check ${url}.`;
}

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
function isUnknownPath({ status }: HttpResponse, { error }: ErrorEnvelope): boolean {
  return status === 405 || (status === 404 && error.details === null);
}

const LOCATION_LENGTH_MAX = 200;

/** Says what responded instead of a registry, and what to set. */
function notARegistryText({ status, headers }: HttpResponse, { url }: MessageNames): string {
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null) {
    return `redirects to ${location.slice(0, LOCATION_LENGTH_MAX)}: set ${url} to the registry's own address.`;
  }
  return `responded with status ${status}, and is not the registry's admin API: set ${url} to the address of that API without a path, port 5002 by default.`;
}

/** Returns a path with escaped segments, as in `pathTo("services", name)`. */
export function pathTo(...segments: (string | number)[]): string {
  return pathOf(
    segments,
    (segment) => new UsageError(`${JSON.stringify(segment)} is not a valid service name.`),
  );
}

function readUrl(url: string, names: MessageNames): string {
  if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/.test(url) || !URL.canParse(url)) {
    throw new UsageError(
      `${names.url} must be the http:// or https:// address of the registry, such as ${DEFAULT_URL}, without user, query or fragment.`,
    );
  }
  return withoutTrailingSlashes(url);
}

function readToken(token: string, names: MessageNames): string {
  if (token === "") throw new UsageError(`Set ${names.token} to the registry's admin token.`);
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new UsageError(`${names.token} must consist of visible ASCII characters without spaces.`);
  }
  return token;
}
