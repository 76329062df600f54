/** The least that a proxy on this runtime can do: stream both ways, and let go when the client goes. */
const [port = "0", upstream = ""] = process.argv.slice(2);

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  async fetch(request) {
    const { method, headers, url, body, signal } = request;
    const answer = await fetch(upstream + url.slice(url.indexOf("/", "http://".length)), {
      method,
      headers,
      body,
      signal,
      redirect: "manual",
      decompress: false,
    });
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  },
});

export {};
