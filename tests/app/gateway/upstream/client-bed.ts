import type { PoolClientOptions } from "../../../../apps/gateway/upstream/pool-client.ts";
import type {
  ByteSource,
  CallHandle,
  StreamedBody,
  UpstreamClient,
  UpstreamResponse,
} from "../../../../apps/gateway/upstream/upstream-client.ts";
import type { RawUpstream } from "../../../support/http/raw-http.ts";
import { waitFor } from "../../../support/index.ts";

/** The options of a pool that a test does not name. */
export const POOL_OPTIONS: PoolClientOptions = {
  idleMax: 256,
  keepAliveMs: 55_000,
  ageMaxMs: 600_000,
  connectTimeoutMs: 5_000,
  connectionsMax: 1_000,
};

/** An HTTP client for services that the suites test. */
export interface ClientUnderTest {
  readonly name: string;
  /** Creates a client with its own connections. */
  make(): UpstreamClient;
  /** Whether the client passes all tests. False for the runtime's fetch. */
  readonly isStrict: boolean;
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  /** The header names and values, alternating. */
  readonly fields?: readonly string[];
  readonly body?: string | StreamedBody;
}

/** A response with its complete body. */
interface WholeResponse extends Omit<UpstreamResponse, "body"> {
  readonly text: string;
}

/** A request in flight. */
interface Underway {
  readonly handle: CallHandle;
  readonly response: Promise<UpstreamResponse>;
  abort(): void;
}

/** Starts a request to the port of `service` at `host`. */
export function begin(
  client: UpstreamClient,
  service: Pick<RawUpstream, "port">,
  { method = "GET", path = "/", fields = [], body }: Sent = {},
  host = "127.0.0.1",
): Underway {
  const handle: CallHandle = { underway: null };
  const target = `${host}:${service.port}`;
  const request = { service: "widgets", origin: `http://${target}`, target, method, path, fields };
  const response = client.fetch({ ...request, body: bodyOf(body) }, handle);
  // A test may await the response later or never, so a rejection must not count as unhandled.
  response.catch(() => {});
  return { handle, response, abort: () => handle.underway?.abort() };
}

function bodyOf(body: string | StreamedBody | undefined) {
  return typeof body === "string" ? Buffer.from(body, "latin1") : (body ?? null);
}

/** Sends a request and reads the whole response. */
export async function call(...request: Parameters<typeof begin>): Promise<WholeResponse> {
  return whole(await begin(...request).response);
}

/** Reads the rest of a response. */
export async function whole({ body, ...head }: UpstreamResponse): Promise<WholeResponse> {
  return { ...head, text: await textOf(body) };
}

export async function textOf(body: UpstreamResponse["body"]): Promise<string> {
  if (body === null) return "";
  if (body instanceof Uint8Array) return Buffer.from(body).toString("latin1");
  let text = "";
  for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) {
    text += Buffer.from(chunk).toString("latin1");
  }
  return text;
}

/** Returns the source of a streamed body. Throws if the body arrived as a whole. */
export function sourceOf({ body }: UpstreamResponse): ByteSource {
  if (body === null || body instanceof Uint8Array) throw new Error("The body is not streamed.");
  return body;
}

/** A request body that a test sends piece by piece. */
export class PushedBody implements ByteSource {
  readonly #queue: (Uint8Array | undefined)[] = [];
  #waiting: ((chunk: Uint8Array | undefined) => void) | null = null;
  canceled = false;

  push(text: string): void {
    this.#put(Buffer.from(text, "latin1"));
  }

  end(): void {
    this.#put(undefined);
  }

  next(): Promise<Uint8Array | undefined> {
    if (this.#queue.length > 0) return Promise.resolve(this.#queue.shift());
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  cancel(): void {
    this.canceled = true;
  }

  #put(chunk: Uint8Array | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting === null) this.#queue.push(chunk);
    else waiting(chunk);
  }
}

/** A request body of `chunks` pieces of 64 KiB, which are generated when they are read. */
export class MadeBody implements ByteSource {
  static readonly #piece = new Uint8Array(65_536).fill(97);
  /** The number of pieces that have been read. */
  taken = 0;
  readonly #chunks: number;

  constructor(chunks: number) {
    this.#chunks = chunks;
  }

  get length(): number {
    return this.#chunks * MadeBody.#piece.byteLength;
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.taken === this.#chunks) return undefined;
    this.taken += 1;
    return MadeBody.#piece;
  }

  cancel(): void {}
}

/** Waits until `count` returns the same number above zero twice in succession. */
export async function untilSteady(count: () => number): Promise<void> {
  let last = 0;
  await waitFor(() => {
    const before = last;
    last = count();
    return last > 0 && last === before;
  });
}
