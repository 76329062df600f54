import createFetchClient from "openapi-fetch";
import type { HttpMethod } from "openapi-typescript-helpers";
import type { paths as GatewayPaths } from "./apis/gateway.d.ts";
import { isRecord, OstiaryError } from "./client-errors.ts";
import { itemsOf, pagesOf } from "./lists.ts";
import { pathWith, urlOf } from "./paths.ts";
import { errorOf, jsonIn, readBlob } from "./responses.ts";
import { lifetimeOf, type MintedSession, SessionCredential } from "./session.ts";
import { SYSTEM_TIME, type Time } from "./time.ts";
import { baseUrlOf, requireNumbers, type TransportOptions, timerOf, transport } from "./transport.ts";
import type { Client } from "./types.ts";

export interface ClientOptions extends TransportOptions {
  /** Headers of every call. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The maximum size of a body that is not streamed. 32 MiB by default. */
  readonly bodyBytesMax?: number | undefined;
}

const BODY_BYTES_MAX = 33_554_432;

/** Makes a client of the gateway, or of another API whose types are `Paths`. */
export function createClient<Paths extends object = GatewayPaths>(options: ClientOptions): Client<Paths> {
  return typed(clientWith(options, SYSTEM_TIME));
}

/**
 * Gives the client the types of an API. This is safe because the methods only pass on what they get: openapi-fetch
 * derives the types of parameters and responses from the same description that the server serves.
 */
function typed<Paths extends object>(client: UntypedClient): Client<Paths> {
  // biome-ignore lint/plugin: see above
  return client as unknown as Client<Paths>;
}

/** The options of one call that this package reads itself. */
interface CallInit {
  readonly parseAs?: "json" | "text" | "blob" | "arrayBuffer" | "stream";
  readonly params?: AnyOperation["parameters"];
  readonly body?: unknown;
  readonly signal?: AbortSignal | null;
}

/** The operations of an API whose types are not known here. */
interface AnyOperation {
  parameters: { query?: Readonly<Record<string, unknown>>; path?: Readonly<Record<string, unknown>> };
  requestBody?: { content: { "application/json": unknown } };
}

type Call = (path: string, init?: CallInit) => Promise<{ data: unknown; response: Response }>;
type Page = Record<string, unknown>;

interface UntypedClient extends Record<"GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE", Call> {
  pages(path: string, name: string, init?: CallInit): AsyncGenerator<Page, void>;
  items(path: string, name: string, init?: CallInit): AsyncGenerator<unknown, void>;
  inOrganization(organization_id: string): UntypedClient;
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** Parses a body that is not streamed. */
async function dataIn(
  body: Blob,
  parseAs: CallInit["parseAs"],
  { headers, status }: Response,
  method: string,
): Promise<unknown> {
  if (parseAs === "arrayBuffer") return body.arrayBuffer();
  if (parseAs === "blob") return body;
  const text = await body.text();
  if (parseAs === "text") return text;
  if (text === "" && (method === "head" || [202, 204, 205].includes(status))) return undefined;
  const value = jsonIn(text);
  if (value !== undefined) return value;
  const message = `The server responded with status ${status} and without JSON. Check the base URL, and the proxies before it, or set parseAs.`;
  const request_id = headers.get("X-Request-ID");
  throw new OstiaryError({ code: "UNEXPECTED_RESPONSE", message, status, request_id });
}

/** Makes a client with a clock of its own. */
export function clientWith(options: ClientOptions, time: Time): UntypedClient {
  const { headers, bodyBytesMax = BODY_BYTES_MAX } = options;
  const timeoutMs = timerOf(options.timeoutMs);
  requireNumbers({ bodyBytesMax });
  const baseUrl = baseUrlOf(options.baseUrl);
  const send = transport(options);
  const core = createFetchClient<Record<string, Record<HttpMethod, AnyOperation>>>({
    baseUrl,
    headers,
    pathSerializer: pathWith,
    // Filters of audit logs are objects with a name for each filter.
    querySerializer: { object: { style: "form", explode: true } },
  });

  /** Sends a request, and throws the error of a response that is no success. */
  async function succeed(request: Request): Promise<Response> {
    const response = await send(request);
    if (response.ok) return response;
    throw await inTime(request.signal, (signal) => errorOf(response, signal));
  }

  /** Limits the time in which a body must arrive. */
  async function inTime<Result>(
    signal: AbortSignal | null | undefined,
    read: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return await read(signal ? AbortSignal.any([signal, timeout]) : timeout);
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof OstiaryError) throw cause;
      const message = "The body of the response did not arrive whole.";
      throw new OstiaryError({ code: "NO_RESPONSE", message, cause });
    }
  }

  async function call(method: HttpMethod, path: string, init: CallInit = {}) {
    urlOf(baseUrl, path);
    const { parseAs = "json", ...rest } = init;
    // openapi-fetch does not read the body, which is read with limits.
    // Without parameters, openapi-fetch would not check that the path needs none.
    const params = { ...init.params, path: init.params?.path ?? {} };
    const { response } = await core.request(method, path, {
      ...rest,
      params,
      fetch: succeed,
      parseAs: "stream",
    });
    if (parseAs === "stream") return { data: response.body, response };
    const body = await inTime(init.signal, (signal) => readBlob(response, bodyBytesMax, signal));
    return { data: await dataIn(body, parseAs, response, method), response };
  }

  const reader = (path: string, init: CallInit) => async (starting_after: string | undefined) => {
    const query = { ...init.params?.query, ...(starting_after !== undefined && { starting_after }) };
    return (await call("get", path, { ...init, params: { ...init.params, query } })).data;
  };

  async function mint(organization_id: string): Promise<MintedSession> {
    const path = pathWith("/user/organizations/{organization_id}/session", { organization_id });
    const { data, response } = await call("post", path, { body: {} });
    if (!isRecord(data) || typeof data.token !== "string") {
      const message = "The response to the request for a session has no token.";
      throw new OstiaryError({ code: "UNEXPECTED_RESPONSE", message, status: response.status });
    }
    return { token: data.token, lifetimeMs: lifetimeOf(data.expires_at, response) };
  }

  const method =
    (name: HttpMethod): Call =>
    (path, init) =>
      call(name, path, init);
  return {
    GET: method("get"),
    HEAD: method("head"),
    POST: method("post"),
    PUT: method("put"),
    PATCH: method("patch"),
    DELETE: method("delete"),
    pages: (path, name, init = {}) => pagesOf(name, reader(path, init)),
    items: (path, name, init = {}) => itemsOf(name, reader(path, init)),
    inOrganization: (organization_id) =>
      clientWith({ ...options, credential: new SessionCredential(() => mint(organization_id), time) }, time),
    fetch: async (path, init) => send(new Request(urlOf(baseUrl, path), init)),
  };
}
