import { type Clock, readBounded, resultInSlices } from "@ostiary/lib/async";
import { reasonOf } from "@ostiary/lib/domain/errors";
import { outlineJson, tryJson, tryUtf8 } from "@ostiary/lib/domain/json";
import { NotADescription, ServiceDescription } from "@ostiary/lib/edge-description";

/** The time that parsing may block the event loop before other work runs. */
const SLICE_MS = 5;
/** The maximum number of bytes in a service's response. */
export const DESCRIPTION_BYTES_MAX = 4 * 1024 * 1024;

/** The description that a service returned. */
export interface ReceivedDescription {
  readonly description: ServiceDescription;
  /** The ETag for a conditional request, or null if the response has none. */
  readonly etag: string | null;
  readonly bytes: number;
}

/** The response was not complete in time. */
export class DescriptionTimeout extends NotADescription {}

/**
 * Requests a service's description once, without redirects, within the limits of time and size. Resolves with
 * null when the description still has this `etag`.
 *
 * @throws NotADescription with a reason for the operator
 */
export async function readDescription(
  url: string,
  etag: string | null,
  { clock, stopping, timeoutMs }: { clock: Clock; stopping: AbortSignal; timeoutMs: number },
): Promise<ReceivedDescription | null> {
  const late = new AbortController();
  const cancel = clock.after(timeoutMs, () => late.abort());
  try {
    const response = await fetch(url, {
      headers: {
        Accept: "application/json",
        // a small compressed response can expand to a very large one
        "Accept-Encoding": "identity",
        "User-Agent": "ostiary-registry",
        ...(etag !== null && { "If-None-Match": etag }),
      },
      redirect: "manual",
      decompress: false,
      // HTTP_PROXY is for calls to the internet, not to the operator's services
      proxy: false,
      timeout: false,
      signal: AbortSignal.any([stopping, late.signal]),
    });
    if (response.status === 304 && etag !== null) {
      await response.body?.cancel();
      return null;
    }
    return await readResponse(response);
  } catch (error) {
    if (error instanceof NotADescription) throw error;
    if (late.signal.aborted)
      throw new DescriptionTimeout(`The description took longer than ${timeoutMs / 1000} s to download.`);
    throw new NotADescription(`The description cannot be read: ${reasonOf(error)}`);
  } finally {
    cancel();
  }
}

async function readResponse(response: Response): Promise<ReceivedDescription> {
  const { status, headers } = response;
  const refusal = refusalOf(status, headers);
  if (refusal !== null) {
    await response.body?.cancel();
    throw new NotADescription(refusal);
  }
  const tooLarge = () => new NotADescription(TOO_LARGE);
  const bytes = await readBounded(response.body, DESCRIPTION_BYTES_MAX, tooLarge);
  const description = await resultInSlices(parse(bytes), { sliceMs: SLICE_MS });
  return { description, etag: headers.get("etag"), bytes: bytes.byteLength };
}

function refusalOf(status: number, headers: Headers): string | null {
  if (status >= 300 && status < 400)
    return "The service redirects: set openapi to the path without a redirect.";
  if (status !== 200) return `The service responded with ${status}.`;
  if ((headers.get("content-encoding") ?? "identity") !== "identity")
    return "The description has a Content-Encoding: send it uncompressed.";
  return Number(headers.get("content-length")) > DESCRIPTION_BYTES_MAX ? TOO_LARGE : null;
}

const NOT_JSON = "The description is not JSON.";
const TOO_LARGE = `The description has more than ${DESCRIPTION_BYTES_MAX} bytes.`;

/** The maximum number of objects, arrays, members and items in a description. */
const VALUES_MAX = 150_000;

function* parse(bytes: Uint8Array): Generator<void, ServiceDescription> {
  const text = tryUtf8(bytes);
  if (text === undefined) throw new NotADescription(NOT_JSON);
  yield;
  const { tooDeepAt, values } = outlineJson(text);
  if (tooDeepAt !== null) throw new NotADescription("The description is nested too deeply.");
  if (values > VALUES_MAX) throw new NotADescription(`The description has more than ${VALUES_MAX} values.`);
  yield;
  const value = tryJson(text, JSON.parse);
  if (value === undefined) throw new NotADescription(NOT_JSON);
  yield;
  return yield* ServiceDescription.read(value);
}
