/** Tests how the registry serves the console. `tests/full/app/console` tests the page itself. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../../support/root.ts";
import { clientOf, startRegistry, useRegistry } from "./bed.ts";

const registry = useRegistry();

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${registry.url}${path}`, { method, headers });

async function assetPaths(): Promise<string[]> {
  const html = await (await get("/console")).text();
  return [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? "");
}

describe("the console's page", () => {
  // RG-2, RG-97
  test("needs no token, and browsers must revalidate it each time", async () => {
    const page = await get("/console");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("cache-control")).toBe("no-cache");
    const etag = page.headers.get("etag") ?? "";
    expect((await get("/console", { "If-None-Match": etag })).status).toBe(304);
    expect((await get("/console", {}, "HEAD")).headers.get("etag")).toBe(etag);
    const posted = await get("/console", {}, "POST");
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  // RG-97
  test("may only run its own script, use its own styles and call its own origin", async () => {
    for (const headers of [undefined, { "If-None-Match": "*" }]) {
      const page = await get("/console", headers);
      const policy = new Map(
        (page.headers.get("content-security-policy") ?? "").split("; ").map((directive) => {
          const [name = "", ...values] = directive.split(" ");
          return [name, values.join(" ")];
        }),
      );
      expect(Object.fromEntries(policy)).toEqual({
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
      });
      expect(page.headers.get("referrer-policy")).toBe("no-referrer");
      expect(page.headers.get("x-content-type-options")).toBe("nosniff");
      expect(page.headers.get("cross-origin-opener-policy")).toBe("same-origin");
    }
  });
});

describe("the console's script", () => {
  async function raw(path: string, encoding: string) {
    const response = await fetch(`${registry.url}${path}`, {
      headers: { "Accept-Encoding": encoding },
      decompress: false,
    });
    return { headers: response.headers, bytes: await response.bytes() };
  }

  test.each([
    ["gzip", true],
    ["identity", false],
  ])("for Accept-Encoding %p is compressed: %p", async (encoding, compressed) => {
    const [, path = ""] = await assetPaths();
    const { headers, bytes } = await raw(path, encoding);
    expect(headers.get("content-encoding")).toBe(compressed ? "gzip" : null);
    expect(headers.get("vary")).toBe("Accept-Encoding");
    const plain = compressed ? Bun.gunzipSync(Buffer.from(bytes)) : bytes;
    const whole = (await raw(path, "identity")).bytes;
    expect(Bun.hash(plain)).toBe(Bun.hash(whole));
    if (compressed) expect(bytes.byteLength).toBeLessThan(whole.byteLength / 2);
  });

  test("has a different ETag for each encoding, and is 304 only for the ETag of the same encoding", async () => {
    const [, path = ""] = await assetPaths();
    const [small, whole] = [await raw(path, "gzip"), await raw(path, "identity")];
    const tag = small.headers.get("etag") ?? "";
    expect(tag).not.toBe(whole.headers.get("etag") ?? "");
    const held = { "If-None-Match": tag };
    expect((await get(path, { ...held, "Accept-Encoding": "gzip" })).status).toBe(304);
    expect((await get(path, { ...held, "Accept-Encoding": "identity" })).status).toBe(200);
  });
});

// RG-97
test("CONSOLE_ENABLED=false removes the page and its assets", async () => {
  await using silent = await startRegistry({ env: { CONSOLE_ENABLED: "false" } });
  const [style = "", script = ""] = await assetPaths();
  for (const path of ["/console", style, script]) {
    expect((await silent.call("GET", path)).status).toBe(404);
  }
  expect((await silent.call("GET", "/swagger")).status).toBe(200);
});

// RG-127, RG-136
test("a console with an identity provider has the settings for the sign-in, and may call the provider", async () => {
  const issuer = "https://login.example.com/realms/staff";
  await using provided = await startRegistry({
    env: {
      OPERATORS_FILE: join(ROOT, "seeds/operators.yaml"),
      OPERATOR_ISSUER: issuer,
      OPERATOR_JWKS_URI: "http://127.0.0.1:1/keys",
      OPERATOR_AUDIENCE: "console",
      CONSOLE_CLIENT_ID: "console",
      CONSOLE_SCOPES: "openid groups",
      CONSOLE_PROVIDER_ORIGINS: "https://tokens.example.com",
    },
  });
  const anybody = clientOf(provided.url, "");
  const { headers, body } = await anybody.call("GET", "/console");
  const [, settings = ""] = /data-settings="([^"]*)"/.exec(body) ?? [];
  expect(JSON.parse(settings.replaceAll("&quot;", '"'))).toEqual({
    sign_in: { issuer, client_id: "console", scopes: "openid groups", audience: null },
  });
  expect(headers.get("content-security-policy")).toContain(
    "; connect-src 'self' https://login.example.com https://tokens.example.com;",
  );
  expect((await anybody.call("GET", "/console/signed-in?code=c&state=s")).status).toBe(200);
});
