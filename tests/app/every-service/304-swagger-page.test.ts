/** Tests how browsers cache the Swagger page and its assets. */
import { describe, expect, test } from "bun:test";
import { useRegistry } from "../registry/bed.ts";

const registry = useRegistry();

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${registry.url}${path}`, { method, headers });

/** Returns the asset URLs in the page's `src` and `href` attributes. */
async function assetPaths(): Promise<string[]> {
  const html = await (await get("/swagger")).text();
  return [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? "");
}

async function expectRevalidation(path: string, cacheControl: string): Promise<void> {
  const full = await get(path);
  expect(full.status).toBe(200);
  expect(full.headers.get("cache-control")).toBe(cacheControl);
  const etag = full.headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[\w-]{43}"$/);
  expect((await full.bytes()).byteLength).toBeGreaterThan(100);
  for (const held of [etag, `W/${etag}`, `"other", ${etag}`, " * "]) {
    const response = await get(path, { "If-None-Match": held });
    expect(response.status).toBe(304);
    expect(response.headers.get("etag")).toBe(etag);
    expect(response.headers.get("cache-control")).toBe(cacheControl);
    expect(await response.text()).toBe("");
  }
  for (const held of ['"other"', etag.slice(1, -1), "", '"']) {
    expect((await get(path, { "If-None-Match": held })).status).toBe(200);
  }
}

describe("the Swagger page", () => {
  test.each(["/swagger", "/swagger/json"])(
    "requires browsers to revalidate %s each time, and responds with 304 if it is unchanged",
    async (path) => {
      await expectRevalidation(path, "no-cache");
    },
  );

  // RG-99
  test("names versioned asset URLs, which browsers may cache forever", async () => {
    const paths = await assetPaths();
    expect(paths).toHaveLength(5);
    for (const path of paths) await expectRevalidation(path, "public, max-age=31536000, immutable");
    expect(new Set(paths.map((path) => path.split("?v=")[1])).size).toBe(5);
  });

  // RG-99
  test("serves its assets to a page of another version too, but they must be revalidated", async () => {
    const [path = ""] = await assetPaths();
    const plain = path.replace(/\?.*/, "");
    await expectRevalidation(plain, "no-cache");
    await expectRevalidation(`${plain}?v=of-another-version`, "no-cache");
  });

  test("responds to HEAD with the same headers as GET", async () => {
    for (const path of ["/swagger", "/swagger/json", ...(await assetPaths())]) {
      const [whole, head] = [await get(path), await get(path, {}, "HEAD")];
      expect(head.status).toBe(200);
      for (const name of ["etag", "cache-control", "content-type"]) {
        expect(head.headers.get(name)).toBe(whole.headers.get(name));
      }
      expect(await head.text()).toBe("");
    }
  });
});
