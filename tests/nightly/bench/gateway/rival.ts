import { existsSync } from "node:fs";
import { ROUTES_PER_SERVICE } from "../floor/catalog.ts";
import type { Bed, Started } from "../measure/bed.ts";
import { LABEL, LIMIT } from "./catalog.ts";

const CONFIGURATION = Bun.file(`${import.meta.dir}/rival.conf`);
const MODULES = "/usr/lib/nginx/modules";
const LIBRARY = "/usr/share/lua/5.1";
const PACKAGES =
  "nginx libnginx-mod-http-lua lua-nginx-redis lua-nginx-string lua-resty-core lua-cjson (Debian packages)";
const NEEDED = [
  `${MODULES}/ngx_http_lua_module.so`,
  `${LIBRARY}/nginx/redis.lua`,
  `${LIBRARY}/nginx/string.lua`,
  `${LIBRARY}/resty/core.lua`,
];

/** Returns why nginx with Lua cannot run on this machine, or null if it can. */
export function rivalMissing(): string | null {
  const there = Bun.which("nginx") !== null && NEEDED.every((file) => existsSync(file));
  return there ? null : `nginx + Lua is not measured: install ${PACKAGES}.`;
}

/**
 * Starts nginx with Lua code that has all features of the gateway for the routes of `bench floor`. It uses the
 * same services, Redis and identity service as the other subjects.
 */
export async function startRival(
  bed: Bed,
  services: { origins: readonly string[]; redisUrl: string; validateUrl: string },
): Promise<Started> {
  return bed.nginx("subject", await CONFIGURATION.text(), {
    MODULES,
    SERVICES: services.origins.length,
    ROUTES_PER_SERVICE,
    UPSTREAMS: services.origins.map(upstreamBlock).join("\n"),
    LABEL,
    REQUESTS: LIMIT.requests,
    WINDOW_MS: LIMIT.window_seconds * 1000,
    REDIS_PORT: new URL(services.redisUrl).port,
    VALIDATE_URL: services.validateUrl,
  });
}

function upstreamBlock(origin: string, service: number): string {
  const server = origin.slice("http://".length);
  return `  upstream service_${service} { server ${server}; keepalive 1024; keepalive_requests 1000000000; }`;
}
