/**
 * A minimal proxy on the runtime's `fetch`: it streams in both directions, and cancels the call when the
 * client disconnects.
 */

import { originOf } from "../../floor/catalog.ts";

const [port = "0", upstreams = ""] = process.argv.slice(2);
const origins = upstreams.split(",");

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  async fetch(request) {
    const { method, headers, url, body, signal } = request;
    const path = url.slice(url.indexOf("/", "http://".length));
    const response = await fetch(originOf(path, origins) + path, {
      method,
      headers,
      body,
      signal,
      redirect: "manual",
      decompress: false,
    });
    return new Response(response.body, { status: response.status, headers: response.headers });
  },
});
