import { ErrorEnvelope } from "@ostiary/lib/domain/errors";
import { withoutTrailingSlashes } from "@ostiary/lib/domain/routes";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Refused, UsageError } from "./errors.ts";
import { type HttpAnswer, isFromAnotherPort, notARegistryText, tooLongText } from "./not-a-registry.ts";
import { unreachableText } from "./unreachable.ts";

/** Where the registry is and how to be let in; both as the environment gives them, or a profile. */
export interface RegistryAddress {
  REGISTRY_URL: string | undefined;
  ADMIN_TOKEN: string | undefined;
  /** The name of the profile that gives both. */
  profile?: string;
}

export interface RegistryRequest {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array | string;
}

const DEFAULT_URL = "http://localhost:5002";

/** A client of the registry's admin API, for one request at a time. */
export class RegistryClient {
  readonly #url: string;
  readonly #token: string;
  readonly #timeout_s: number;
  #writing = false;

  constructor({ REGISTRY_URL, ADMIN_TOKEN }: RegistryAddress, timeout_s: number) {
    this.#url = readUrl(REGISTRY_URL?.trim() || DEFAULT_URL);
    this.#token = readToken(ADMIN_TOKEN?.trim() ?? "");
    this.#timeout_s = timeout_s;
  }

  /** Whether a request is under way that may change something. */
  get writing(): boolean {
    return this.#writing;
  }

  /** The answer to a request, if it has the shape of `schema`, null where it has none; `Refused` says why there is none. */
  async ask<Schema extends TSchema>(
    schema: Schema,
    path: string,
    request: RegistryRequest = {},
  ): Promise<Static<Schema>> {
    const answer = await this.#send(path, request);
    const value = answer.status === 204 ? null : parseJson(answer.body);
    if (answer.ok && Value.Check(schema, value)) return value;
    if (!answer.ok && Value.Check(ErrorEnvelope, value) && !isFromAnotherPort(answer, value)) {
      throw refusal(value);
    }
    throw new Refused(notARegistryText(this.#url, answer, value));
  }

  async #send(path: string, { method = "GET", query, headers, body }: RegistryRequest): Promise<HttpAnswer> {
    const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
    this.#writing = method !== "GET" && query?.dry_run !== "true";
    try {
      const response = await fetch(`${this.#url}${path}${search}`, {
        method,
        headers: { Authorization: `Bearer ${this.#token}`, ...headers },
        body,
        redirect: "manual",
        signal: AbortSignal.timeout(this.#timeout_s * 1_000 + Number(query?.wait_ms ?? 0)),
      });
      return {
        ok: response.ok,
        status: response.status,
        headers: response.headers,
        body: await readText(response),
      };
    } catch (error) {
      if (error instanceof AnswerTooLong) throw new Refused(tooLongText(this.#url, ANSWER_BYTES_MAX));
      throw new Refused(
        unreachableText(this.#url, error, { timeout_s: this.#timeout_s, writing: this.#writing }),
      );
    } finally {
      this.#writing = false;
    }
  }
}

/** A path with its parts escaped: `pathTo("services", name)`. */
export function pathTo(...segments: (string | number)[]): string {
  return segments.map((segment) => `/${escapeSegment(String(segment))}`).join("");
}

/** URLs read `.` and `..` as steps between folders, however they are escaped: the request would be another one. */
function escapeSegment(segment: string): string {
  if (segment === "" || segment === "." || segment === "..") {
    throw new UsageError(`${JSON.stringify(segment)} is no name of a service.`);
  }
  return encodeURIComponent(segment);
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
    throw new UsageError("ADMIN_TOKEN must be visible ASCII characters without spaces, like the registry's.");
  }
  return token;
}

/** No answer of a registry is as long; what answers for ever would fill the memory. */
const ANSWER_BYTES_MAX = 256 * 1_048_576;

/** The body of an answer, which a registry sends as UTF-8. */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw new AnswerTooLong();
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

class AnswerTooLong extends Error {}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no schema takes it
  }
}

function refusal(envelope: ErrorEnvelope): Refused {
  const { code, message } = envelope.error;
  if (code === "UNAUTHORIZED")
    return new Refused(
      "The registry does not accept ADMIN_TOKEN: set it to the token that the registry was started with.",
      envelope,
    );
  return new Refused(message, envelope);
}
