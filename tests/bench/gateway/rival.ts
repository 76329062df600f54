import { existsSync } from "node:fs";
import type { Bed, Started } from "./bed.ts";
import { askedCollections, LABEL, LIMIT } from "./catalog.ts";

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

/** Why the rival can not be measured here; null when it can. */
export function rivalMissing(): string | null {
  const there = Bun.which("nginx") !== null && NEEDED.every((file) => existsSync(file));
  return there ? null : `nginx + Lua is left out: it needs ${PACKAGES}.`;
}

/** nginx with Lua, doing the whole job on the same upstream, Redis and identity as the gateway. */
export async function startRival(
  bed: Bed,
  services: { upstream: Started; redis_url: string; validate_url: string },
): Promise<Started> {
  return bed.nginx("subject", await CONFIGURATION.text(), {
    MODULES,
    COLLECTIONS: askedCollections.join(" "),
    LABEL,
    REQUESTS: LIMIT.requests,
    WINDOW_MS: LIMIT.window_seconds * 1000,
    UPSTREAM_PORT: services.upstream.port,
    REDIS_PORT: new URL(services.redis_url).port,
    VALIDATE_URL: services.validate_url,
  });
}
