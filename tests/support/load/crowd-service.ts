/** The service that a crowd calls. Measurements of other processes exclude it if it runs as a process of its own. */
import type { StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { type RunningProcess, startProcess } from "../processes/start-process.ts";
import { CROWD_PATHS } from "./crowd.ts";

const LARGE_BYTES = 64 * 1_048_576;
const CHUNK = new Uint8Array(65_536);

export function startCrowdService(): Promise<RunningProcess> {
  return startProcess("tests/support/load/crowd-service.ts", {});
}

/** Returns the service with its routes, in the form that the registry stores. */
export function crowdService(url: string): StoredServiceConfig {
  const get = (path: string) => ({ path, methods: ["GET" as const] });
  const { small, stream, large, upload, socket } = CROWD_PATHS;
  return {
    url,
    public: { routes: [...[small, stream, large, socket].map(get), { path: upload, methods: ["POST"] }] },
  };
}

function respond(request: Request, server: Bun.Server<undefined>): Response | undefined | Promise<Response> {
  switch (new URL(request.url).pathname) {
    case CROWD_PATHS.stream:
      return new Response(
        new ReadableStream({ start: (controller) => controller.enqueue("data: open\n\n") }),
        {
          headers: { "Content-Type": "text/event-stream" },
        },
      );
    case CROWD_PATHS.large:
      return new Response(large());
    case CROWD_PATHS.upload:
      return request.bytes().then(({ byteLength }) => Response.json({ byteLength }));
    case CROWD_PATHS.socket:
      return server.upgrade(request) ? undefined : new Response(null, { status: 400 });
    default:
      return Response.json({ name: "A thing", state: "ready" });
  }
}

function large(): ReadableStream<Uint8Array> {
  let left = LARGE_BYTES;
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.close();
      left -= CHUNK.byteLength;
      controller.enqueue(CHUNK);
    },
  });
}

if (import.meta.main) {
  const { port } = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: respond,
    websocket: { message: () => {}, idleTimeout: 0 },
  });
  console.log(JSON.stringify({ message: "listening", port }));
}
