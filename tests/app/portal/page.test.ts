/** Tests how the portal's process serves its page. `tests/full/flow/portal` tests the page itself. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { ConfigError } from "@ostiary/lib/runtime/config";
import { loadPortal } from "@ostiary/portal/run";
import { testWitness } from "../../support/audit/test-log.ts";
import { type RunningProcess, startProcess } from "../../support/processes/start-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { thrownBy } from "../../support/thrown.ts";

setDefaultTimeout(120_000);

const ENV = { AUTH_ISSUER: "https://login.example.com/realm", PORTAL_CLIENT_ID: "portal", LOG_FILE: "-" };
const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4"/></svg>`;
const BRAND = `
name: Acme <& Daughters>
logo: logo.svg
colors: { accent: "#7a1f5c", accent_dark: "#f0a8d8" }
links: { support: "mailto:help@example.com", terms: "https://example.com/terms" }
`;

/** The verifier keys of two witnesses. The name of the first contains HTML. */
const WITNESSES = [testWitness(`<b>"'&amp;one`).key, testWitness("two.example.com").key];

const folder = temporaryFolder("brand");
let portal: RunningProcess;
beforeAll(async () => {
  await Bun.write(join(folder, "logo.svg"), LOGO);
  const witnesses = {
    PORTAL_WITNESS_KEYS_FILE: join(folder, "witnesses.txt"),
    PORTAL_WITNESS_ORIGIN: "audit.example.com/log",
  };
  await Bun.write(witnesses.PORTAL_WITNESS_KEYS_FILE, WITNESSES.map((key) => `${key}\n`).join(""));
  const origins = { PORTAL_PROVIDER_ORIGINS: "https://tokens.example.com" };
  portal = await start(await withBrand({ ...origins, ...witnesses }, BRAND));
});
afterAll(() => portal.stop());

/** Returns the environment with a brand file of this text. */
async function withBrand(env: Record<string, string>, brand: string): Promise<Record<string, string>> {
  const PORTAL_BRAND_FILE = join(folder, `${crypto.randomUUID()}.yaml`);
  await Bun.write(PORTAL_BRAND_FILE, brand);
  return { ...ENV, PORTAL_BRAND_FILE, ...env };
}

const start = (env: Record<string, string>) => startProcess("apps/portal/main.ts", env);

/** Expects that a configuration is refused, and returns its problems. */
function problems(env: Record<string, string>): string[] {
  const message = thrownBy(ConfigError, () =>
    loadPortal({ ...ENV, PORT: "0", INTERNAL_PORT: "0", ...env }),
  )?.message;
  const [headline, ...lines] = message?.split("\n").map((line) => line.trim()) ?? [];
  expect(headline).toBe("The configuration is not valid:");
  return lines;
}

const get = (path: string, init?: RequestInit) => fetch(`${portal.url}${path}`, init);
const html = async (path = "/portal") => (await get(path)).text();

/** HTML escapes and their characters. The ampersand is last, so that nothing is unescaped twice. */
const ESCAPED = { "&quot;": '"', "&#x27;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&" };

/** Returns the settings in the HTML of a page. */
function settingsIn(page: string): unknown {
  const [, data = "null"] = /data-settings="([^"]*)"/.exec(page) ?? [];
  return JSON.parse(
    Object.entries(ESCAPED).reduce((text, [code, sign]) => text.replaceAll(code, sign), data),
  );
}

describe("the portal's page", () => {
  // PT-3
  test.each(["/portal", "/portal/signed-in?code=c&state=s", "/portal/invite"])(
    "is served at %p",
    async (path) => {
      const page = await get(path);
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(page.headers.get("cache-control")).toBe("no-cache");
      expect(await page.text()).toBe(await html());
    },
  );

  // PT-3, PT-4
  test("may call only its own origin and the identity provider's, and allows no frames and no inline scripts", async () => {
    const { headers } = await get("/portal");
    expect(headers.get("content-security-policy")?.split("; ")).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self' https://login.example.com https://tokens.example.com",
      "img-src 'self' data:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types portal-verifier",
    ]);
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
  });

  // PT-4
  test("has the hashes of its script and styles", async () => {
    const assets = [
      ...(await html()).matchAll(/(?:src|href)="(\/portal\/[^"]+)" integrity="sha256-([^"]+)"/g),
    ];
    expect(assets.map(([, path]) => path?.replace(/\?.*/, ""))).toEqual([
      "/portal/assets/portal.css",
      "/portal/assets/brand.css",
      "/portal/assets/portal.js",
    ]);
    for (const [, path = "", hash] of assets) {
      const asset = await get(path);
      expect(asset.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(new Bun.CryptoHasher("sha256").update(await asset.bytes()).digest("base64")).toBe(hash ?? "");
    }
  });

  // Schemas that only services check once made the page larger. Nothing shows that but its size.
  test("has fewer than 110 kB with its script and styles, compressed", async () => {
    const assets = [...(await html()).matchAll(/(?:src|href)="(\/portal\/[^"]+)" integrity/g)];
    const sizes = await Promise.all(
      ["/portal", ...assets.map(([, path = ""]) => path)].map(async (path) => {
        const { headers } = await get(path, { method: "HEAD", headers: { "Accept-Encoding": "gzip" } });
        return Number(headers.get("content-length"));
      }),
    );
    expect(sizes).toHaveLength(4);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(110_000);
  });

  // PT-1
  test("contains no file path of the machine that built it", async () => {
    const script = /src="([^"]+)"/.exec(await html())?.[1] ?? "";
    for (const path of ["/portal", script]) {
      expect(await (await get(path)).text()).not.toContain(
        import.meta.dir.slice(0, import.meta.dir.indexOf("/tests")),
      );
    }
  });

  test("accepts only GET and HEAD", async () => {
    const posted = await get("/portal", { method: "POST", body: "code=c" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect((await get("/portal", { method: "HEAD" })).status).toBe(200);
  });

  // PT-5
  test("has the name, the logo, the colors and the links of the brand file, as text", async () => {
    const page = await html();
    expect(page).toContain("<title>Acme &lt;&amp; Daughters&gt;</title>");
    expect(page).not.toContain("<&");
    expect(settingsIn(page)).toMatchObject({ brand: { links: { support: "mailto:help@example.com" } } });
    const logo = await get("/portal/assets/logo");
    expect([logo.headers.get("content-type"), await logo.text()]).toEqual(["image/svg+xml", LOGO]);
    const style = await (await get("/portal/assets/brand.css")).text();
    expect(style).toContain("--accent:#7a1f5c;--accent-ink:#ffffff");
    expect(style).toContain("--accent:#f0a8d8;--accent-ink:#000000");
  });
});

// PT-80
describe("issuers of the brand file", () => {
  const TWO = `
name: Acme
issuers:
  - { name: Acme ID, issuer: "https://login.example.com/realm", client_id: portal }
  - { name: Partners, issuer: "https://partners.example.net", client_id: acme, scopes: openid email }
`;
  const unset = { AUTH_ISSUER: "", PORTAL_CLIENT_ID: "" };

  // PT-3
  test("are the providers of the page, which may call each of them", async () => {
    const own = await start(await withBrand({ ...unset, PORTAL_AUDIENCE: "api" }, TWO));
    const page = await fetch(`${own.url}/portal`);
    expect(page.headers.get("content-security-policy")).toContain(
      "connect-src 'self' https://login.example.com https://partners.example.net;",
    );
    const realm = { name: "Acme ID", issuer: "https://login.example.com/realm", client_id: "portal" };
    const partners = { name: "Partners", issuer: "https://partners.example.net", client_id: "acme" };
    expect(settingsIn(await page.text())).toMatchObject({
      providers: [
        { ...realm, audience: "api", scopes: "openid profile" },
        { ...partners, audience: "api", scopes: "openid email" },
      ],
    });
    await own.stop();
  });

  test("without the file are the one of the variables, without a name", async () => {
    expect(settingsIn(await html())).toMatchObject({
      providers: [{ name: null, issuer: ENV.AUTH_ISSUER, client_id: "portal", audience: null }],
    });
  });

  // PT-2
  test("are refused beside PORTAL_CLIENT_ID, and not beside the gateway's AUTH_ISSUER", async () => {
    expect(problems(await withBrand({}, TWO))).toEqual([
      "PORTAL_CLIENT_ID and issuers in PORTAL_BRAND_FILE are both set: keep one of them.",
    ]);
    const env = await withBrand({ PORTAL_CLIENT_ID: "" }, TWO);
    expect(loadPortal({ ...env, PORT: "0", INTERNAL_PORT: "0" })).toBeDefined();
  });

  const entry = { name: "A", issuer: "https://a.example", client_id: "portal" };
  test.each([
    ["no entry", [], " must be a list of 1 to 10 issuers"],
    ["11 entries", Array(11).fill(entry), " must be a list of 1 to 10 issuers"],
    ["a text", ["https://a.example"], "[0] must be a map with name, issuer and client_id"],
    ["no name", [{ ...entry, name: undefined }], "[0].name is required"],
    ["an unknown key", [{ ...entry, audience: "x" }], "[0].audience is not a known field"],
    ["a query", [{ ...entry, issuer: "https://a.example?x" }], "[0].issuer must be the issuer"],
    ["a script", [{ ...entry, issuer: "javascript:alert(1)" }], "[0].issuer must be the issuer"],
    ["a template", [{ ...entry, issuer: "https://a.example/{tenantid}" }], "[0].issuer must be the issuer"],
    ["spaces in the client id", [{ ...entry, client_id: "a b" }], "[0].client_id must be the client id"],
    ["scopes without openid", [{ ...entry, scopes: "email" }], "[0].scopes must be scopes"],
    ["an issuer twice", [entry, { ...entry, name: "B" }], "[1].issuer is that of issuers[0]"],
    ["a name twice", [entry, { ...entry, issuer: "https://b.example" }], "[1].name is that of issuers[0]"],
  ])("are refused with %s", async (_what, issuers, says) => {
    const lines = problems(await withBrand(unset, `name: Acme\nissuers: ${JSON.stringify(issuers)}\n`));
    expect(lines.join("\n")).toContain(`line 2: issuers${says}`);
  });
});

// PT-71
test("the page gets the keys of the witnesses, the origin, and by default the number of keys as the quorum", async () => {
  expect(settingsIn(await html())).toMatchObject({
    witnesses: { keys: WITNESSES, quorum: 2, origin: "audit.example.com/log" },
  });
});

describe("the portal's process", () => {
  // OP-37, PT-1
  test("is ready at once, logs each request, counts unknown paths as one route, and exits with 0", async () => {
    const own = await start(ENV);
    expect(own.logs()[0]).toMatchObject({ service: "portal", message: "listening" });
    expect(await (await fetch(`${own.internalUrl}/health/ready`)).json()).toEqual({ status: "healthy" });
    const unknown = Array.from({ length: 20 }, () => `/portal/${crypto.randomUUID()}/x`);
    const paths = ["/portal", "/portal/assets/none.js", "/health/ready", ...unknown];
    for (const path of paths) await fetch(`${own.url}${path}`);
    const scraped = await (await fetch(`${own.internalUrl}/metrics`)).text();
    const counts = scraped.split("\n").filter((line) => line.startsWith("http_requests_total{"));
    expect(counts.filter((line) => line.includes('route="/portal"'))).toHaveLength(1);
    expect(scraped).not.toContain(unknown[0] ?? "");
    expect(counts.length).toBeLessThan(10);
    expect(await own.stop()).toBe(0);
    const lines = own.logs().filter(({ route }) => route !== undefined);
    expect(lines.find(({ route }) => route === "/portal")).toMatchObject({
      service: "portal",
      method: "GET",
      status: 200,
      request_id: expect.any(String),
    });
    expect(lines.filter(({ status }) => status === 404)).toHaveLength(unknown.length + 2);
  });

  // PT-2
  test("names every invalid environment variable", () => {
    const wrong = {
      AUTH_ISSUER: "login.example.com",
      PORTAL_CLIENT_ID: "two words",
      PORTAL_SCOPES: "profile",
      PORTAL_AUDIENCE: "two words",
      PORTAL_PROVIDER_ORIGINS: "https://a.example.com/path",
      PORTAL_LANGUAGES: "en,xx",
      PORTAL_BRAND_FILE: join(folder, "none.yaml"),
      PORTAL_WITNESS_KEYS_FILE: folder,
      PORTAL_WITNESS_QUORUM: "0",
      PORTAL_WITNESS_ORIGIN: "two words",
    };
    expect(
      problems(wrong)
        .map((line) => line.split(" ")[0])
        .toSorted(),
    ).toEqual(Object.keys(wrong).toSorted());
  });

  // PT-2, PT-71
  test.each([
    [{ PORTAL_SCOPES: "openid  profile" }],
    [{ PORTAL_SCOPES: `openid "x"` }],
    [{ PORTAL_LANGUAGES: "en,en" }],
    [{ PORTAL_LANGUAGES: "," }],
    [{ PORTAL_PROVIDER_ORIGINS: "*" }],
    [{ PORTAL_PROVIDER_ORIGINS: "https://*.example.com" }],
    [{ PORTAL_PROVIDER_ORIGINS: "https://a.example.com;script-src *" }],
    [{ AUTH_ISSUER: "https://login.example.com/?x=1" }],
    [{ AUTH_ISSUER: "https://login.example.com#x" }],
    [{ AUTH_ISSUER: "javascript:alert(1)" }],
    [{ PORTAL_CLIENT_ID: "x".repeat(513) }],
    [{ PORTAL_WITNESS_QUORUM: "2" }],
  ])("refuses %p", (env) => {
    expect(problems(env)).toEqual([expect.stringContaining(Object.keys(env)[0] ?? "")]);
  });

  // PT-5
  test.each([
    ["no map", "- Acme", "must"],
    ["no name", "links: {}", "name"],
    ["an unknown key", "name: Acme\ncolour: red", "colour"],
    ["a long name", `name: ${"x".repeat(65)}`, "1 to 64 characters"],
    ["a control character", `name: "a\\u0007b"`, "control characters"],
    ["a script as a link", `name: Acme\nlinks: { terms: "javascript:alert(1)" }`, "https://"],
    ["an unreadable color", `name: Acme\ncolors: { accent: "#ffff00" }`, "contrast"],
    ["an unreadable dark color", `name: Acme\ncolors: { accent_dark: "#000080" }`, "contrast"],
    ["a color with style", `name: Acme\ncolors: { accent: "red;}" }`, "#rrggbb"],
    ["no such logo", "name: Acme\nlogo: none.svg", "cannot be read"],
    ["a page as a logo", "name: Acme\nlogo: page.svg", "not an SVG"],
    ["a text as a PNG", "name: Acme\nlogo: text.png", "not a PNG"],
    ["a huge logo", "name: Acme\nlogo: huge.png", "bytes"],
  ])("refuses a brand file with %s", async (_what, brand, says) => {
    await Promise.all([
      Bun.write(join(folder, "page.svg"), "<!doctype html><script>1</script>"),
      Bun.write(join(folder, "text.png"), "text"),
      Bun.write(join(folder, "huge.png"), "x".repeat(131_073)),
    ]);
    const lines = problems(await withBrand({}, brand));
    expect(lines.join("\n")).toContain(says);
    expect(lines.join("\n")).toContain("PORTAL_BRAND_FILE");
  });
});
