/** Tests what the command line sends to a proxy, and what it says when the registry has no database. */
import { describe, expect, test } from "bun:test";
import { startRegistry } from "../../../app/registry/harness.ts";
import { services, startPostgres } from "../../../support/index.ts";
import { runCli, useCli } from "./bed.ts";

const { registry, cli, file } = useCli();

describe("HTTP_PROXY", () => {
  test.each([[{}], [{ NO_PROXY: "registry.example" }], [{ no_proxy: "registry.example" }]])(
    "receives nothing for a registry on this machine, with %j",
    async (env) => {
      const received: string[] = [];
      const proxy = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch(request) {
          received.push(request.url);
          return new Response(null, { status: 502 });
        },
      });
      const url = proxy.url.href;
      for (const REGISTRY_URL of [registry.url, registry.url.replace("127.0.0.1", "localhost")]) {
        const run = await cli(["services"], {
          env: { ...env, REGISTRY_URL, HTTP_PROXY: url, http_proxy: url },
        });
        expect(run.exitCode).toBe(0);
      }
      expect(received).toEqual([]);
      await proxy.stop(true);
    },
  );

  test("receives requests for other hosts, unless NO_PROXY names them", async () => {
    const received: string[] = [];
    const proxy = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request) {
        received.push(request.url);
        return new Response(null, { status: 502 });
      },
    });
    const env = { REGISTRY_URL: "http://registry.invalid", HTTP_PROXY: proxy.url.href };
    expect((await cli(["services"], { env })).exitCode).toBe(1);
    expect(received).toHaveLength(1);
    await cli(["services"], { env: { ...env, NO_PROXY: "registry.invalid" } });
    expect(received).toHaveLength(1);
    await proxy.stop(true);
  });
});

describe.skipIf(!services().postgres.own)("a registry without its database", () => {
  test("makes `apply` name the request id and say that the state is uncertain", async () => {
    const database = await startPostgres();
    const alone = await startRegistry({ databaseUrl: database.url });
    const document = await file(
      "a.yaml",
      "services:\n  a:\n    url: http://a:80\n    user: {routes: [{path: /a, methods: [GET]}]}\n",
    );
    await database.kill();
    const applied = await runCli(alone.url, ["apply", document]);
    expect(applied.exitCode).toBe(1);
    expect(applied.stderr).toMatch(/request_id \S+\.\nThe command may still have taken effect/);
    const listed = await runCli(alone.url, ["services"]);
    expect(listed.stderr).toMatch(/request_id \S+\.\n$/);
    await alone.stop();
    await database.close();
  });
});
