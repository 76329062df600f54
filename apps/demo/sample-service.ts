import { listen, localOrigin } from "@ostiary/lib/runtime/service";
import { SAMPLE_DOCUMENT } from "./sample-document.ts";

/**
 * A sample upstream for the quick start and tests. The service does not authenticate callers: the gateway writes the
 * owner's id into the path.
 *
 * - `.../events` streams five server-sent events, `intervalMs` apart.
 * - `/openapi.json` returns the service's description.
 * - Every other path echoes method, path, headers and body size. A write also adds an audit note.
 */
interface SampleService {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

interface SampleServiceOptions {
  host: string;
  port: number;
  /** The variable that sets the port, for error messages; `PORT` by default. */
  variable?: string;
  /** The time between two events of the stream. */
  intervalMs?: number;
}

const EVENTS = 5;
const INTERVAL_MS = 400;

export function startSampleService(options: SampleServiceOptions): SampleService {
  const respond = async (request: Request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/openapi.json") return Response.json(SAMPLE_DOCUMENT);
    return pathname.endsWith("/events") ? events(options.intervalMs ?? INTERVAL_MS) : echo(request);
  };
  const { host, port, variable = "PORT" } = options;
  const server = listen({ fetch: respond }, { host, port, variable });
  return {
    url: localOrigin(host, server.port ?? port),
    port: server.port ?? port,
    stop: () => server.stop(true),
  };
}

async function echo(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const body = await request.bytes();
  const echoed = {
    method: request.method,
    path: `${pathname}${search}`,
    headers: Object.fromEntries(request.headers),
    body_bytes: body.byteLength,
  };
  const wrote = request.method !== "GET" && request.method !== "HEAD";
  const headers = wrote
    ? { "X-Platform-Audit-Details": JSON.stringify({ bytes: body.byteLength }) }
    : undefined;
  return Response.json(echoed, { headers });
}

function events(intervalMs: number): Response {
  async function* ticks() {
    for (let tick = 1; tick <= EVENTS; tick += 1) {
      yield `id: ${tick}\ndata: {"tick":${tick}}\n\n`;
      await Bun.sleep(intervalMs);
    }
  }
  return new Response(ticks(), {
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" },
  });
}
