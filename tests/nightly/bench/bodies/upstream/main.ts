/**
 * The upstream service of the bench `bodies`. It serves one large file, and counts the bytes that it
 * receives.
 */

const [port = "0", file = ""] = process.argv.slice(2);

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  idleTimeout: 0,
  async fetch({ method, body }) {
    if (method !== "PUT") return new Response(Bun.file(file));
    let size = 0;
    for await (const chunk of body ?? []) size += chunk.byteLength;
    return new Response(String(size));
  },
});

export {};
