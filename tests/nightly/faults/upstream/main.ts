/**
 * The upstream service behind the gateways. It writes each request to a file before it responds, so the file
 * is complete even if the service is killed. It sends event streams, and responds to all
 * other requests with their path.
 */

import { openSync, writeSync } from "node:fs";

const [port = "", log = "", intervalMs = ""] = process.argv.slice(2);
const file = openSync(log, "a");

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  idleTimeout: 0,
  fetch(request) {
    const { pathname, search } = new URL(request.url);
    if (pathname === "/ready") return new Response("yes");
    const request_id = request.headers.get("x-request-id") ?? "";
    writeSync(file, `${JSON.stringify({ request_id, path: pathname + search })}\n`);
    if (pathname.endsWith("/events")) {
      return new Response(events(), { headers: { "Content-Type": "text/event-stream" } });
    }
    return Response.json({ path: pathname });
  },
});

async function* events() {
  for (let event = 1; ; event += 1) {
    yield `id: ${event}\ndata: {}\n\n`;
    await Bun.sleep(Number(intervalMs));
  }
}
