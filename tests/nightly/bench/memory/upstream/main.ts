/**
 * The upstream service of the bench `memory`. It serves event streams that stay open, and small responses.
 */

const [port = "0"] = process.argv.slice(2);

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  idleTimeout: 0,
  fetch({ url }) {
    if (!url.includes("/stream-")) return Response.json({ name: "A thing", state: "ready" });
    const stream = new ReadableStream({
      start: (controller) => controller.enqueue("data: open\n\n"),
    });
    return new Response(stream, { headers: { "Content-Type": "text/event-stream" } });
  },
});

export {};
