/** A minimal proxy on the HTTP client of the real gateway. It accepts only requests without a body. */

import { systemClock } from "@ostiary/lib/async";
import { Registry } from "prom-client";
import type { UpstreamResponse } from "../../../../../apps/gateway/upstream/client.ts";
import { ConnectionCounts } from "../../../../../apps/gateway/upstream/connection-counts.ts";
import { PoolClient } from "../../../../../apps/gateway/upstream/pool-client.ts";
import { originOf } from "../../floor/catalog.ts";

const [port = "0", upstreams = ""] = process.argv.slice(2);
const origins = upstreams.split(",");
const client = new PoolClient(
  { idleMax: 256, keepAliveMs: 55_000, ageMaxMs: 600_000, connectTimeoutMs: 5_000, connections_max: 65_000 },
  new ConnectionCounts(new Registry()),
  systemClock,
);
/** The request headers that are not forwarded: hop-by-hop headers, and Host, which the pool sets. */
const NOT_SENT: ReadonlySet<string> = new Set(["connection", "host", "keep-alive"]);

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  async fetch({ method, headers, url }) {
    const path = url.slice(url.indexOf("/", "http://".length));
    const origin = originOf(path, origins) ?? "";
    const fields: string[] = [];
    headers.forEach((value, name) => {
      if (!NOT_SENT.has(name)) fields.push(name, value);
    });
    const target = origin.slice("http://".length);
    const answer = await client.fetch(
      { service: "bench", origin, target, method, path, fields, body: null },
      { underway: null },
    );
    return new Response(contentOf(answer), { status: answer.status, headers: pairs(answer.fields) });
  },
});

function pairs(fields: readonly string[]): [string, string][] {
  const list: [string, string][] = [];
  for (let index = 0; index < fields.length; index += 2) {
    list.push([fields[index] ?? "", fields[index + 1] ?? ""]);
  }
  return list;
}

function contentOf({ body }: UpstreamResponse): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null {
  if (body === null) return null;
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return new ReadableStream({
    async pull(controller) {
      const chunk = await body.next();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: () => body.cancel(),
  });
}
