import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { duringTests } from "../../support/during-tests.ts";
import { services, waitFor } from "../../support/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type Registry, service, startRegistry, useRegistry } from "./bed.ts";

const DOCUMENT = "/edge/openapi.json";
const REFRESH = { EDGE_DOCUMENT_REFRESH_MS: "20" };

/** A service that returns its own description with `respond`, which a test can replace. */
class SelfDescribing {
  respond: (request: Request) => Response | Promise<Response> = () => Response.json(describing("It"));
  asked = 0;
  readonly #server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: (request) => {
      this.asked++;
      return this.respond(request);
    },
  });

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** Returns a config with one route that names this service's description. */
  config(path: string) {
    return { ...service(path), url: this.url, openapi: "/openapi.json" };
  }

  [Symbol.dispose](): void {
    this.#server.stop(true);
  }
}

function describing(summary: string, path = "/self") {
  const get = { summary, responses: { 200: { description: "Fine." } } };
  return { openapi: "3.1.0", info: { title: "Self", version: "1" }, paths: { [path]: { get } } };
}

const LOG_FILE = join(temporaryFolder("edge"), "registry.log");
const registry = useRegistry({ env: { ...REFRESH, LOG_FILE } });

const read = async () => (await registry.call("GET", DOCUMENT)).body;
const summaryOf = async (path: string) => (await read()).paths[path]?.get.summary;

async function stateOf(name: string): Promise<unknown> {
  const states: { service: string }[] = (await read())["x-service-documents"];
  return states.find(({ service }) => service === name);
}

async function failing(name: string, reason: RegExp): Promise<void> {
  const isLogged = (line: string) => line.includes(`"route_service":"${name}"`) && reason.test(line);
  const what = `${name} failing for ${reason}`;
  await waitFor(async () => (await readFile(LOG_FILE, "utf8")).split("\n").some(isLogged), { what });
}

describe("the edge description", () => {
  // RG-92
  test("has the current routes at once", async () => {
    await registry.put("now", service("/now/{id}"));
    expect((await read()).paths["/now/{id}"].get.operationId).toBe("getNowById");
    await registry.call("DELETE", "/services/now");
    expect((await read()).paths["/now/{id}"]).toBeUndefined();
  });

  test("is 304 until something changes", async () => {
    const first = await registry.call("GET", DOCUMENT);
    const etag = first.headers.get("etag") ?? "";
    expect(first.headers.get("content-type")).toBe("application/json");
    const same = await registry.call("GET", DOCUMENT, undefined, { "If-None-Match": etag });
    expect([same.status, same.body]).toEqual([304, ""]);
    await registry.put("changed", service("/changed"));
    const changed = await registry.call("GET", DOCUMENT, undefined, { "If-None-Match": etag });
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).not.toBe(etag);
  });
});

describe("the admin token", () => {
  const open = (from: Registry, path: string) => fetch(`${from.url}${path}`);

  // RG-2
  test("is required for the description, but not for the page, which asks for it", async () => {
    const refused = await open(registry, DOCUMENT);
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect((await open(registry, "/edge/nothing")).status).toBe(401);
    const page = await open(registry, "/edge");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
    const html = await page.text();
    const assets = [...html.matchAll(/(?:src|href)="(\/edge\/assets\/[^"]+)"/g)].map(
      ([, path]) => path ?? "",
    );
    expect(assets).toHaveLength(5);
    for (const asset of assets) {
      const response = await open(registry, asset);
      expect([response.status, response.headers.get("cache-control")]).toEqual([
        200,
        "public, max-age=31536000, immutable",
      ]);
    }
  });

  // RG-2
  test("is not required for the description with EDGE_DOCUMENT_PUBLIC=true, but for everything else", async () => {
    await using shown = await startRegistry({
      env: {
        EDGE_DOCUMENT_PUBLIC: "true",
        EDGE_DOCUMENT_TITLE: "Widgets & Sons",
        EDGE_DOCUMENT_SERVER_URL: "https://api.example.com",
      },
    });
    const { info, servers } = JSON.parse(await (await open(shown, DOCUMENT)).text());
    expect([info.title, servers[0].url]).toEqual(["Widgets & Sons", "https://api.example.com"]);
    expect(await (await open(shown, "/edge")).text()).toContain("<title>Widgets &amp; Sons</title>");
    expect((await open(shown, "/services")).status).toBe(401);
  });

  // RG-98
  test("SWAGGER_ENABLED=false turns off pages, but not the description", async () => {
    await using silent = await startRegistry({ env: { SWAGGER_ENABLED: "false" } });
    expect((await silent.call("GET", "/edge")).status).toBe(404);
    expect((await silent.call("GET", DOCUMENT)).status).toBe(200);
  });
});

describe("a service's own description", () => {
  // RG-94
  test("is read in the background, read again when it changes, and dropped with the service's openapi field", async () => {
    using self = new SelfDescribing();
    await registry.put("self", self.config("/self"));
    await waitFor(async () => (await summaryOf("/self")) === "It");
    self.respond = () => Response.json(describing("Changed"));
    await waitFor(async () => (await summaryOf("/self")) === "Changed");
    expect(await stateOf("self")).toEqual({ service: "self", status: "current" });
    await registry.put("self", { ...service("/self"), url: self.url });
    expect(await summaryOf("/self")).toBe("GET /self");
    expect(await stateOf("self")).toBeUndefined();
    await registry.call("DELETE", "/services/self");
  });

  test("is requested with If-None-Match, and a 304 changes nothing", async () => {
    using self = new SelfDescribing();
    let unchanged = 0;
    self.respond = ({ headers }) => {
      if (headers.get("if-none-match") !== '"one"') {
        return Response.json(describing("Tagged", "/tagged"), { headers: { ETag: '"one"' } });
      }
      unchanged++;
      return new Response(null, { status: 304 });
    };
    await registry.put("tagged", self.config("/tagged"));
    await waitFor(() => unchanged > 2);
    expect(await summaryOf("/tagged")).toBe("Tagged");
    expect(await stateOf("tagged")).toMatchObject({ status: "current" });
    await registry.call("DELETE", "/services/tagged");
  });

  // RG-94
  test("is requested without credentials and without compression", async () => {
    using self = new SelfDescribing();
    const headers = Promise.withResolvers<Headers>();
    self.respond = (request) => {
      headers.resolve(request.headers);
      return Response.json(describing("It", "/asked"));
    };
    await registry.put("asked", self.config("/asked"));
    const sent = Object.fromEntries(await headers.promise);
    expect(sent).toMatchObject({ "accept-encoding": "identity", accept: "application/json" });
    expect(Object.keys(sent).filter((name) => /auth|cookie|key|token/.test(name))).toEqual([]);
    await registry.call("DELETE", "/services/asked");
  });

  const endless = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          controller.enqueue(new Uint8Array(65_536).fill(0x20));
        },
      }),
    );
  const nested = `{"openapi":"3.1.0","paths":{},"x":${"[".repeat(100)}${"]".repeat(100)}}`;
  const paths = Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`/${n}`, {}]));

  // RG-94, RG-95
  test.each<[string, () => Response, RegExp]>([
    ["an error", () => new Response("", { status: 500 }), /responded with 500/],
    ["HTML", () => new Response("<!doctype html>", { headers: { "Content-Type": "text/html" } }), /not JSON/],
    ["a redirect", () => Response.redirect("http://127.0.0.1:1/"), /redirects/],
    ["an endless body", endless, /more than 4194304 bytes/],
    [
      "a compressed body",
      () =>
        new Response(gzipSync(JSON.stringify(describing("It"))), { headers: { "Content-Encoding": "gzip" } }),
      /Content-Encoding/,
    ],
    ["deep nesting", () => new Response(nested), /nested too deeply/],
    ["Swagger 2.0", () => Response.json({ swagger: "2.0", paths: {} }), /Swagger 2\.0/],
    [
      "a description with too many values",
      () => Response.json({ ...describing("It"), x: Array(150_000).fill([]) }),
      /more than 150000 values/,
    ],
    [
      "a description with too many paths",
      () => Response.json({ openapi: "3.1.0", paths }),
      /more than 10000 paths/,
    ],
  ])("is not used if the response is %s, and the reason is shown", async (_, respond, reason) => {
    using self = new SelfDescribing();
    self.respond = respond;
    await registry.put("bad", self.config("/bad"));
    await failing("bad", reason);
    expect(await stateOf("bad")).toEqual({ service: "bad", status: "missing" });
    expect(await summaryOf("/bad")).toBe("GET /bad");
    await registry.call("DELETE", "/services/bad");
  });

  // RG-95
  test("stays and is marked as stale while the service is down, and is renewed when the service is back", async () => {
    using self = new SelfDescribing();
    self.respond = () => Response.json(describing("It", "/moody"));
    await registry.put("moody", self.config("/moody"));
    await waitFor(async () => (await summaryOf("/moody")) === "It");
    self.respond = () => new Response("no", { status: 503 });
    await failing("moody", /503/);
    const document = await read();
    expect(document.paths["/moody"].get.summary).toBe("It");
    const stale = { service: "moody", status: "stale", read_at: expect.stringMatching(/Z$/) };
    expect(await stateOf("moody")).toEqual(stale);
    self.respond = () => Response.json(describing("Back", "/moody"));
    await waitFor(async () => (await summaryOf("/moody")) === "Back");
    expect(await stateOf("moody")).toEqual({ service: "moody", status: "current" });
    await registry.call("DELETE", "/services/moody");
  });
});

// RG-95
describe.skipIf(!services().postgres.real)("a service's own description in a replica", () => {
  // `replica` looks for new descriptions at the long default interval, and `registry` every 20 ms.
  const replica = duringTests(() => startRegistry({ databaseUrl: registry.databaseUrl }));
  const seen = async (path: string) => (await replica.call("GET", DOCUMENT)).body.paths[path]?.get.summary;

  test("is never used for another service that gets the name of a deleted one", async () => {
    using first = new SelfDescribing();
    using second = new SelfDescribing();
    first.respond = () => Response.json(describing("First", "/heir"));
    second.respond = () => Response.json(describing("Second", "/heir"));
    for (let round = 0; round < 2; round++) {
      await registry.put("heir", first.config("/heir"));
      await waitFor(async () => (await seen("/heir")) === "First", { what: `the first in round ${round}` });
      await registry.call("DELETE", "/services/heir");
      await registry.put("heir", second.config("/heir"));
      const read = await Promise.all(Array.from({ length: 8 }, () => seen("/heir")));
      expect(read.filter((summary) => summary !== "GET /heir" && summary !== "Second")).toEqual([]);
      await waitFor(async () => (await seen("/heir")) === "Second", { what: `the second in round ${round}` });
      await registry.call("DELETE", "/services/heir");
      if (round % 2 === 0) expect(await seen("/heir")).toBeUndefined();
    }
  });

  test("is kept over many changes of its service between two reads", async () => {
    using self = new SelfDescribing();
    self.respond = () => Response.json(describing("It", "/busy"));
    await registry.put("busy", self.config("/busy"));
    await waitFor(async () => (await seen("/busy")) === "It");
    self.respond = () => new Response("no", { status: 503 });
    for (const path of ["/a", "/b", "/busy"]) {
      await registry.put("busy", { ...self.config(path), openapi: "/moved.json" });
    }
    expect(await seen("/busy")).toBe("It");
    await registry.call("DELETE", "/services/busy");
  });
});
