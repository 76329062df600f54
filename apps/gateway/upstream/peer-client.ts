import { readBounded, systemClock } from "@ostiary/lib/async";
import {
  type BegunResponse,
  type CallTransport,
  fetchTransport,
  RESPONSE_BYTES_MAX,
  responseTooLarge,
  type TransportCall,
} from "@ostiary/lib/runtime/bounded-call";
import { ConnectionCounts } from "./connection-counts.ts";
import { PoolClient } from "./pool-client.ts";
import type { ByteSource, CallHandle, UpstreamRequest, UpstreamResponse } from "./upstream-client.ts";

interface PeerClient extends CallTransport {
  close(): void;
}

/** The maximum time to connect. The deadline of a call is shorter, and ends a slow connect first. */
const CONNECT_TIMEOUT_MS = 60_000;
const IDLE_CONNECTIONS_MAX = 64;
const POOL_OPTIONS = {
  idleMax: IDLE_CONNECTIONS_MAX,
  keepAliveMs: 55_000,
  ageMaxMs: 60_000,
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  connectionsMax: 65_000,
};

const encoder = new TextEncoder();

/**
 * Returns the client for calls to the peer at `url`. Calls over plain HTTP use a connection pool, which needs
 * half to two thirds of the CPU time of `fetch`. Calls over TLS, and calls to a URL with a user name, use
 * `fetch`.
 */
export function peerClient(url: string): PeerClient {
  const { protocol, username, password } = new URL(url);
  const isPlain = protocol === "http:" && username === "" && password === "";
  return isPlain ? new PooledTransport() : { send: fetchTransport.send, close: () => {} };
}

class PooledTransport implements PeerClient {
  readonly #client = new PoolClient(POOL_OPTIONS, new ConnectionCounts(null), systemClock);

  async send(call: TransportCall, handle: CallHandle, isRepeat: boolean): Promise<BegunResponse> {
    const request = requestOf(call);
    const response = isRepeat
      ? await this.#client.fetchFresh(request, handle)
      : await this.#client.fetch(request, handle);
    return { status: response.status, text: () => boundedText(response) };
  }

  close(): void {
    this.#client.closeIdle();
  }
}

function requestOf({ method, url, headers = {}, body }: TransportCall): UpstreamRequest {
  const { origin, host, pathname, search } = new URL(url);
  // The response body is not decoded.
  const fields = ["accept-encoding", "identity"];
  for (const [name, value] of Object.entries(headers)) fields.push(name, value);
  return {
    service: host,
    origin,
    target: host,
    method,
    path: pathname + search,
    fields,
    body: body === undefined ? null : encoder.encode(body),
  };
}

async function boundedText({ body }: UpstreamResponse): Promise<string> {
  if (body === null) return "";
  const isWhole = body instanceof Uint8Array;
  if (isWhole && body.byteLength > RESPONSE_BYTES_MAX) throw responseTooLarge();
  const bytes = isWhole ? body : await readBounded(chunksOf(body), RESPONSE_BYTES_MAX, responseTooLarge);
  return new TextDecoder().decode(bytes);
}

async function* chunksOf(body: ByteSource): AsyncGenerator<Uint8Array> {
  try {
    for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) yield chunk;
  } finally {
    body.cancel();
  }
}
