import { ErrorEnvelope } from "@ostiary/lib/errors";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Refused, UsageError } from "./failures.ts";

/** Where the registry is and how to be let in; both as the environment gives them. */
export interface RegistryAddress {
  REGISTRY_URL: string | undefined;
  ADMIN_TOKEN: string | undefined;
}

export interface RegistryRequest {
  method?: "GET" | "POST";
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array;
}

const DEFAULT_URL = "http://localhost:5002";
const TIMEOUT_MS = 60_000;

/** The admin API, asked one request at a time. */
export class Registry {
  readonly #url: string;
  readonly #token: string;

  constructor({ REGISTRY_URL, ADMIN_TOKEN }: RegistryAddress) {
    const url = REGISTRY_URL || DEFAULT_URL;
    if (!/^https?:\/\/[^/?#]+(\/[^?#]*)?$/.test(url) || !URL.canParse(url)) {
      throw new UsageError(
        `REGISTRY_URL must be the http:// or https:// address of the registry, such as ${DEFAULT_URL}.`,
      );
    }
    if (!ADMIN_TOKEN) throw new UsageError("Set ADMIN_TOKEN to the registry's admin token.");
    this.#url = url.replace(/\/+$/, "");
    this.#token = ADMIN_TOKEN;
  }

  /** The answer to a request, if it has the shape of `schema`; `Refused` says why there is none. */
  async ask<Schema extends TSchema>(
    schema: Schema,
    path: string,
    request: RegistryRequest = {},
  ): Promise<Static<Schema>> {
    const response = await this.#send(path, request);
    const answer = await readJson(response);
    if (response.ok && Value.Check(schema, answer)) return answer;
    if (!response.ok && Value.Check(ErrorEnvelope, answer)) throw refusal(answer);
    throw new Refused(
      `${this.#url} answered with status ${response.status} and a body that is no answer of a route registry: check REGISTRY_URL.`,
    );
  }

  async #send(path: string, { method = "GET", query, headers, body }: RegistryRequest): Promise<Response> {
    const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
    try {
      return await fetch(`${this.#url}${path}${search}`, {
        method,
        headers: { Authorization: `Bearer ${this.#token}`, ...headers },
        body,
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (error) {
      throw new Refused(
        `The registry at ${this.#url} can not be reached (${reason(error)}): is it running, and is REGISTRY_URL its address?`,
      );
    }
  }
}

/** A path with its parts escaped: `at("services", name)`. */
export function at(...segments: (string | number)[]): string {
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join("");
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined; // the caller sees that it has no shape it knows
  }
}

function refusal(envelope: ErrorEnvelope): Refused {
  const { code, message } = envelope.error;
  if (code === "UNAUTHORIZED") return new Refused("The registry does not accept ADMIN_TOKEN.", envelope);
  return new Refused(message, envelope);
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return "unknown reason";
  if (error.name === "TimeoutError") return `no answer within ${TIMEOUT_MS / 1000} seconds`;
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
