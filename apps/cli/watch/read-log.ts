import { readBounded } from "@ostiary/lib/async";
import { reasonOf } from "@ostiary/lib/domain/errors";
import { proxyFor } from "../proxy.ts";

/** The error for a log that does not respond, or whose response is unexpected. */
export class NoResponse extends Error {
  constructor(url: string, why: string) {
    super(`${url} ${why}.`);
    this.name = "NoResponse";
  }
}

const TIMEOUT_MS = 10_000;
const RESPONSE_BYTES_MAX = 4 * 1_048_576;
const NOT_FOUND = 404;

/**
 * Requests a path of a log. Returns the body, or null for a 404.
 *
 * @throws NoResponse for any other status, or if the log does not respond
 */
export async function readLog(url: string, path: string): Promise<Uint8Array | null> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url + path, { redirect: "manual", signal, ...proxyFor(url) });
    if (response.status === NOT_FOUND) return null;
    if (response.status !== 200) throw new NoResponse(url, `responds to GET ${path} with ${response.status}`);
    return await readBounded(
      response.body,
      RESPONSE_BYTES_MAX,
      () => new NoResponse(url, `responds with more than ${RESPONSE_BYTES_MAX} bytes`),
    );
  } catch (error) {
    if (error instanceof NoResponse) throw error;
    throw new NoResponse(url, `does not respond (${reasonOf(error)})`);
  }
}
