import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { sha256, sha256InBrowser } from "@ostiary/lib/domain/proof";
import fc from "fast-check";
import type { Browser, Page } from "playwright-core";
import { givenOf, goodExports } from "../../support/audit/proof-exports.ts";
import { verify } from "../../support/audit/verify-lines.ts";
import { browserPath, launchBrowser, PAGE_TIMEOUT_MS } from "../../support/pages/swagger-page.ts";

setDefaultTimeout(PAGE_TIMEOUT_MS);

// AU-50
test("the page's SHA-256 equals the runtime's for random and all short inputs", () => {
  const hashes = (data: string | Uint8Array) => [sha256InBrowser(data).toHex(), sha256(data).toHex()];
  const same = (data: string | Uint8Array) => {
    const [browser, server] = hashes(data);
    expect(browser).toBe(server ?? "");
  };
  fc.assert(fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: "binary" })), same));
  for (let length = 0; length <= 200; length++) same(new Uint8Array(length).fill(length));
});

/** A Content Security Policy that allows scripts of the same origin, and forbids `eval` and inline scripts. */
const POLICY = "default-src 'none'; script-src 'self'; worker-src 'self'";

function serve(script: string): Bun.Server<undefined> {
  const answer = (body: string, type: string) =>
    new Response(body, { headers: { "Content-Type": type, "Content-Security-Policy": POLICY } });
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      url.endsWith("/worker.js")
        ? answer(script, "text/javascript")
        : answer("<!doctype html><title>A page</title>", "text/html"),
  });
}

async function bundled(): Promise<string> {
  const entry = join(import.meta.dir, "../../support/pages/verification-worker.ts");
  const { outputs } = await Bun.build({ entrypoints: [entry], target: "browser", minify: true });
  return (await Promise.all(outputs.map((output) => output.text()))).join("");
}

const exports = await goodExports();

// AU-65, AU-66, AU-68, AU-76, AU-197
describe.skipIf(browserPath === undefined)("in a browser's worker that forbids eval,", () => {
  let browser: Browser;
  let server: Bun.Server<undefined>;
  let page: Page;
  beforeAll(async () => {
    [browser, server] = [await launchBrowser(), serve(await bundled())];
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.port}/`);
  }, PAGE_TIMEOUT_MS);
  afterAll(async () => {
    await browser.close();
    await server.stop(true);
  });

  async function verifyThere(question: object): Promise<unknown> {
    const text: string = await page.evaluate(
      `new Promise((resolve, reject) => {
        const worker = new Worker("/worker.js", { type: "module" });
        worker.onmessage = ({ data }) => { worker.terminate(); resolve(data); };
        worker.onerror = ({ message }) => { worker.terminate(); reject(new Error(message || "The worker failed.")); };
        worker.postMessage(${JSON.stringify(question)});
      })`,
    );
    return JSON.parse(text);
  }

  test.each(exports)("the verifier reaches the same verdict: $title", async (good) => {
    for (const lines of [good.lines, good.lines.slice(1)]) {
      const here = await verify(lines, await givenOf(good));
      expect(await verifyThere({ ...good, lines })).toEqual(JSON.parse(JSON.stringify(here)));
    }
  });
});
