import type { Clock } from "@ostiary/lib/async";
import { JsonTooDeep, parseJson } from "@ostiary/lib/domain/json";
import { reasonOf } from "@ostiary/lib/runtime/http";
import { NotADocument, ServiceDocument } from "./service-document.ts";

/** How long a service may take to answer whole, and how much. */
const TIMEOUT_MS = 10_000;
export const DOCUMENT_BYTES_MAX = 4 * 1024 * 1024;

/** A document as a service answered it. */
export interface ReadDocument {
  readonly document: ServiceDocument;
  /** By which to ask whether it is still right. */
  readonly etag: string | null;
  readonly bytes: number;
}

/**
 * Asks a service for its document: once, without redirects, within a time and a size. Resolves with null when it
 * still is the one with this `etag`.
 *
 * @throws NotADocument with a reason for the operator
 */
export async function readDocument(
  url: string,
  etag: string | null,
  { clock, stopping }: { clock: Clock; stopping: AbortSignal },
): Promise<ReadDocument | null> {
  const late = new AbortController();
  const cancel = clock.after(TIMEOUT_MS, () => late.abort());
  try {
    const response = await fetch(url, {
      headers: {
        Accept: "application/json",
        // what is packed small may be very large
        "Accept-Encoding": "identity",
        "User-Agent": "ostiary-registry",
        ...(etag !== null && { "If-None-Match": etag }),
      },
      redirect: "manual",
      decompress: false,
      // HTTP_PROXY is for calls of the internet, not of one's own services
      proxy: false,
      timeout: false,
      signal: AbortSignal.any([stopping, late.signal]),
    });
    if (response.status === 304 && etag !== null) {
      await response.body?.cancel();
      return null;
    }
    return await readAnswer(response);
  } catch (error) {
    if (error instanceof NotADocument) throw error;
    if (late.signal.aborted) throw new NotADocument(`It was not there whole after ${TIMEOUT_MS / 1000} s.`);
    throw new NotADocument(`It can not be read: ${reasonOf(error)}`);
  } finally {
    cancel();
  }
}

async function readAnswer(response: Response): Promise<ReadDocument> {
  const { status, headers } = response;
  const refusal = refusalOf(status, headers);
  if (refusal !== null) {
    await response.body?.cancel();
    throw new NotADocument(refusal);
  }
  const bytes = await readBounded(response);
  return { document: parse(bytes), etag: headers.get("etag"), bytes: bytes.byteLength };
}

function refusalOf(status: number, headers: Headers): string | null {
  if (status >= 300 && status < 400) return "The service redirects: name the path where it is itself.";
  if (status !== 200) return `The service answered ${status}.`;
  if ((headers.get("content-encoding") ?? "identity") !== "identity")
    return "It is encoded, and was not to be.";
  return Number(headers.get("content-length")) > DOCUMENT_BYTES_MAX ? TOO_LARGE : null;
}

const TOO_LARGE = `It has more than ${DOCUMENT_BYTES_MAX} bytes.`;

async function readBounded({ body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > DOCUMENT_BYTES_MAX) throw new NotADocument(TOO_LARGE);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(bytes: Uint8Array): ServiceDocument {
  let value: unknown;
  try {
    value = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new NotADocument(error instanceof JsonTooDeep ? "It is nested too deeply." : "It is not JSON.");
  }
  return new ServiceDocument(value);
}
