/** The upstream service on machines without nginx. It sends the responses of `upstream.conf`. */

const [port = "0"] = process.argv.slice(2);

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  fetch(request) {
    const path = request.url.slice(request.url.indexOf("/", "http://".length));
    if (path === "/internal/quota-counts") return Response.json({ counts: [0] });
    return Response.json({ path, name: "A thing", state: "ready", created_at: "2026-01-01T00:00:00.000Z" });
  },
});

export {};
