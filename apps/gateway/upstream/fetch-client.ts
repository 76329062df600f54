import type { ReadableStreamDefaultReader } from "node:stream/web";
import { sentOnce } from "@ostiary/lib/runtime/bounded-call";
import { keepsResponseField } from "./headers.ts";
import { MalformedResponse } from "./http-bytes.ts";
import type {
  ByteSource,
  CallHandle,
  StreamedBody,
  UpstreamClient,
  UpstreamRequest,
  UpstreamResponse,
} from "./upstream-client.ts";

const NO_CONTENT = 204;
const BODILESS: ReadonlySet<number> = new Set([NO_CONTENT, 304]);

/** Methods whose requests the runtime resends when a reused connection is lost, unless the body is a stream. */
const REPEATED: ReadonlySet<string> = new Set(["PUT", "DELETE"]);
const NOTHING = new Uint8Array();

/** Calls services through the runtime's `fetch`, which has 64 idle connections and its own retries. */
export class FetchClient implements UpstreamClient {
  async fetch(request: UpstreamRequest, handle: CallHandle): Promise<UpstreamResponse> {
    const controller = new AbortController();
    handle.underway = controller;
    handle.reached = true;
    const response = await fetch(request.origin + request.path, {
      method: request.method,
      ...headersAndBody(request),
      redirect: "manual",
      decompress: false,
      signal: controller.signal,
      timeout: false,
      // HTTP_PROXY is for calls to the internet, not for calls to the company's own services
      proxy: false,
    });
    try {
      return responseOf(request, response);
    } catch (malformed) {
      controller.abort();
      throw malformed;
    }
  }

  closeIdle(): void {}
}

function headersAndBody({ method, fields, body }: UpstreamRequest) {
  const headers = new Headers();
  for (let index = 0; index < fields.length; index += 2) {
    headers.append(fields[index] ?? "", fields[index + 1] ?? "");
  }
  // Without a User-Agent, the runtime would send its own.
  if (!headers.has("user-agent")) headers.set("user-agent", "");
  if (REPEATED.has(method) && (body === null || body instanceof Uint8Array)) {
    const content = body ?? NOTHING;
    headers.set("content-length", String(content.byteLength));
    return { headers, body: sentOnce(content) };
  }
  if (body === null || body instanceof Uint8Array) return { headers, body };
  if (body.length !== null) headers.set("content-length", String(body.length));
  return { headers, body: streamOf(body) };
}

function streamOf({ source }: StreamedBody): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await source.next();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel: () => source.cancel(),
    },
    { highWaterMark: 0 },
  );
}

function responseOf({ method }: UpstreamRequest, response: Response): UpstreamResponse {
  const { status, headers } = response;
  const length = lengthOf(status, headers);
  const isBodiless = method === "HEAD" || BODILESS.has(status) || length === 0;
  return {
    status,
    fields: keptFields(headers),
    length,
    body: isBodiless || response.body === null ? null : new StreamSource(response.body),
  };
}

/**
 * Returns the Content-Length of a response, or null without that field. The runtime shows repeated fields as one
 * value.
 *
 * @throws MalformedResponse for a status or a framing that the runtime accepts, and that no client may get
 */
function lengthOf(status: number, headers: Headers): number | null {
  if (status < 200 || status > 599) throw new MalformedResponse("The status is out of range.");
  const coding = headers.get("transfer-encoding");
  const [length = null, ...repeated] = headers.get("content-length")?.split(", ") ?? [];
  if (coding !== null && (coding.toLowerCase() !== "chunked" || length !== null)) {
    throw new MalformedResponse(
      'Transfer-Encoding is not exactly one "chunked", or has a Content-Length beside it.',
    );
  }
  if (length !== null && (!/^[0-9]+$/.test(length) || repeated.some((each) => each !== length))) {
    throw new MalformedResponse("Content-Length is not one valid length.");
  }
  if (status !== NO_CONTENT) return length === null ? null : Number(length);
  if (coding !== null || Number(length) > 0) throw new MalformedResponse("A 204 response has a body.");
  return null;
}

function keptFields(headers: Headers): string[] {
  const named = new Set(["content-length", ...connectionNames(headers.get("connection"))]);
  const fields: string[] = [];
  headers.forEach((value, name) => {
    if (keepsResponseField(name) && !named.has(name)) fields.push(name, value);
  });
  return fields;
}

function connectionNames(connection: string | null): string[] {
  return (connection ?? "").split(",").map((token) => token.trim().toLowerCase());
}

class StreamSource implements ByteSource {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  next(): Promise<Uint8Array | undefined> {
    return this.#reader.read().then(({ value }) => value);
  }

  cancel(): void {
    this.#reader.cancel().catch(() => {});
  }
}
