/** Tests of the command line when REGISTRY_URL does not lead to a registry. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { startLocalGateway } from "../../support/gateway/gateway.ts";
import { Certificates } from "../../support/http/certificates.ts";
import { useCli } from "./bed.ts";

const ESCAPE = "\u001b";
type Responder = Partial<Bun.SocketHandler>;

const { registry, cli } = useCli();

/** Runs `services` with a server that responds with `fetch` as the registry. Returns the run and the server's URL. */
async function servicesOf(fetch: () => Response) {
  await using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  const url = other.url.origin;
  return { url, run: await cli(["services"], { env: { REGISTRY_URL: `${url}/` } }) };
}

const gatewayOf = (instance: string) => ({
  instance,
  started_at: "2026-01-31T12:00:00.000Z",
  loaded_at: "2026-01-31T12:00:00.000Z",
  store_revision: 1,
  services: 1,
  routes: 1,
  skipped: [],
  current: true,
});

describe("the command line without a usable registry", () => {
  test("names the URL when nothing listens there", async () => {
    const run = await cli(["services"], { env: { REGISTRY_URL: "http://127.0.0.1:1" } });
    expect(run).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        "The registry at http://127.0.0.1:1 cannot be reached (ECONNREFUSED): is it running, and is REGISTRY_URL its address?\n",
    });
  });

  test("says that the token is wrong, without showing it", async () => {
    const run = await cli(["services"], { env: { ADMIN_TOKEN: "some-other-token" } });
    expect(run).toEqual({
      exitCode: 1,
      stdout: "",
      stderr:
        "The registry does not accept ADMIN_TOKEN: it must be the token that the registry was started with, a token of OPERATORS_FILE, or a JWT of OPERATOR_ISSUER that has not expired. The registry's log at level debug has the reason.\n",
    });
  });

  test.each<[string, () => Response, string]>([
    [
      "an HTML page",
      () => new Response("<html>", { headers: { "Content-Type": "text/html" } }),
      "responded with status 200, and is not the registry's admin API: set REGISTRY_URL to",
    ],
    ["unknown JSON", () => Response.json({ ok: true }), "and is not the registry's admin API"],
    [
      "a redirect",
      () => Response.redirect("https://elsewhere.example/"),
      "redirects to https://elsewhere.example/: set REGISTRY_URL to the registry's own address.",
    ],
  ])("says that a server that responds with %s is not a registry", async (_, respond, message) => {
    const { url, run } = await servicesOf(respond);
    expect(run).toMatchObject({ exitCode: 1, stdout: "" });
    expect(run.stderr).toStartWith(`${url} `);
    expect(run.stderr).toContain(message);
  });

  test.each([
    ["never gets beyond a gateway", (asked: number) => [`gateway-${Math.min(asked, 3)}`]],
    ["returns to an earlier gateway", (asked: number) => [`gateway-${asked % 3}`]],
    ["has pages without gateways", () => []],
  ])("ends a list of gateways that %s", async (_, idsOf) => {
    let asked = 0;
    using other = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => Response.json({ gateways: idsOf(asked++).map(gatewayOf), has_more: asked < 10 }),
    });
    const run = await cli(["gateways"], { env: { REGISTRY_URL: other.url.origin } });
    expect(run).toMatchObject({ exitCode: 1, stdout: "" });
    expect(run.stderr).toContain("is not a route registry: check REGISTRY_URL");
    expect(asked).toBeLessThan(6);
  });

  test("says that the URL leads to another service of Ostiary, or to another path of the registry", async () => {
    const gateway = await startLocalGateway();
    const strangers = [gateway.url, gateway.internalUrl, registry.internalUrl, `${registry.url}/swagger`];
    try {
      for (const url of strangers) {
        for (const parameters of [["services"], ["services", "widgets"], ["apply", "-"]]) {
          const run = await cli(parameters, { env: { REGISTRY_URL: url }, input: "services: {}" });
          expect(run).toMatchObject({ exitCode: 1, stdout: "" });
          expect(run.stderr).toStartWith(`${url} responded with status `);
          expect(run.stderr).toContain("and is not the registry's admin API: set REGISTRY_URL to");
        }
      }
    } finally {
      await gateway.close();
    }
  });

  test.each<[string, Responder, string]>([
    [
      "closes the connection",
      { open: (socket) => void socket.end() },
      "closed the connection without a response",
    ],
    [
      "does not speak HTTP",
      { data: (socket) => void socket.write("-ERR unknown command\r\n") },
      "does not respond in HTTP",
    ],
    ["sends nothing", {}, "did not respond within 1 s"],
    [
      "stops sending within its response",
      { data: (socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{") },
      "did not respond within 1 s",
    ],
  ])(
    "reports a server that %s, and says that a write may have taken effect",
    async (_, responder, message) => {
      const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {}, ...responder } });
      const env = { REGISTRY_URL: `http://127.0.0.1:${other.port}` };
      const [read, write] = await Promise.all([
        cli(["services", "--timeout", "1"], { env }),
        cli(["restore", "a", "1", "--timeout", "1"], { env }),
      ]);
      expect(read).toMatchObject({ exitCode: 1, stdout: "" });
      expect(read.stderr).toContain(message);
      expect(read.stderr).not.toContain("may still have taken effect");
      expect(write.stderr).toContain("The command may still have taken effect");
      other.stop(true);
    },
  );

  test("suggests https:// for a TLS server, and http:// for a server without TLS", async () => {
    const { keyFile, cert } = new Certificates().make("registry");
    const secure = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: { key: readFileSync(keyFile), cert },
      fetch: () => new Response(),
    });
    const wrong = async (url: string) => (await cli(["services"], { env: { REGISTRY_URL: url } })).stderr;
    expect(await wrong(`http://127.0.0.1:${secure.port}`)).toContain("should it start with https://");
    expect(await wrong(registry.url.replace("http:", "https:"))).toContain(
      "should REGISTRY_URL start with http://",
    );
    expect(await wrong(`https://127.0.0.1:${secure.port}`)).toContain("NODE_EXTRA_CA_CERTS");
    await secure.stop(true);
  });

  const spoofed = `${ESCAPE}[2J\u0007a\u0009b\ndone`;
  const shown = "\ufffd[2J\ufffda\ufffdb\ufffddone";
  const fields = [{ path: "a", message: spoofed }];
  const conflict = { service: "a", method: "GET", path: spoofed, owner: "b", owner_path: spoofed };

  test.each([
    ["a message", { code: "X", details: null }, `${shown}\n`],
    ["a message of an outage", { code: "SERVICE_UNAVAILABLE", details: null }, `${shown} The registry's log`],
    ["an id", { code: "SERVICE_UNAVAILABLE", details: null, request_id: spoofed }, `request_id ${shown}.\n`],
    ["the message of a field", { code: "X", details: { fields } }, `Refused:\n  a: ${shown}\n`],
    [
      "a conflict",
      { code: "X", details: { conflicts: [conflict] } },
      `Refused:\n  GET ${shown} of a belongs to b\n`,
    ],
    [
      "a resource",
      { code: "X", details: { resource: "thing", id: spoofed } },
      `There is no thing ${shown}.\n`,
    ],
    ["a limit", { code: "X", details: { max_size_bytes: 1 } }, `${shown} The limit is 1 bytes.\n`],
    ["a revision", { code: "X", details: { current_revision: 1 } }, `${shown} Its current revision is 1.\n`],
  ])("shows %s of a response on one line, without control characters", async (_, known, text) => {
    const error = { type: "api_error", message: spoofed, request_id: "1", ...known };
    const { run } = await servicesOf(() => Response.json({ error }, { status: 500 }));
    expect(run.stderr).toContain(text);
    expect(run.stderr).not.toContain(ESCAPE);
  });
});
