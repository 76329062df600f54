/** Tests of the command line with a proxy, an endless response, and a registry without its database. */
import { afterAll, describe, expect, test } from "bun:test";
import { runCli, useCli } from "../../../app/cli/bed.ts";
import { startRegistry } from "../../../app/registry/bed.ts";
import { services, startPostgres } from "../../../support/index.ts";

const { registry, cliProcess, file } = useCli();

// OP-133
describe("a proxy of the environment", () => {
  const received: string[] = [];
  const proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      received.push(url);
      return new Response(null, { status: 502 });
    },
  });
  afterAll(() => proxy.stop(true));
  const ask = (REGISTRY_URL: string, env: Record<string, string>) => {
    received.length = 0;
    return cliProcess(["services"], { env: { NO_PROXY: "", no_proxy: "", REGISTRY_URL, ...env } });
  };
  const { origin } = proxy.url;

  test.each([
    ["127.0.0.1", { HTTP_PROXY: origin, NO_PROXY: "registry.example" }],
    ["localhost", { http_proxy: origin, no_proxy: "registry.example" }],
    ["LOCALHOST", { ALL_PROXY: origin }],
    ["[::ffff:127.0.0.1]", { all_proxy: origin }],
  ])("receives nothing for a registry on %s, with %j", async (host, env) => {
    const run = await ask(registry.url.replace("127.0.0.1", host), env);
    expect([run.exitCode, received]).toEqual([0, []]);
  });

  test("receives requests for other hosts, unless NO_PROXY names them", async () => {
    const other = "http://registry.invalid:5002";
    expect((await ask(other, { HTTP_PROXY: origin })).exitCode).toBe(1);
    expect(received).toEqual([`${other}/services`]);
    await ask(other, { HTTP_PROXY: origin, NO_PROXY: "registry.invalid" });
    expect(received).toEqual([]);
  });
});

test("the command line stops reading an endless response after 256 MiB", async () => {
  const mebibyte = new Uint8Array(1_048_576).fill(0x20);
  let sent = 0;
  const endless = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.enqueue(mebibyte);
            if (++sent === 2_048) controller.close();
          },
        }),
      ),
  });
  const url = `http://127.0.0.1:${endless.port}`;
  // A process of its own reads the endless response, so that the memory of the tests stays small.
  const run = await cliProcess(["services"], { env: { REGISTRY_URL: url } });
  expect(run).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: `${url} responds with more than 256 MiB, so it is not a route registry: check REGISTRY_URL.\n`,
  });
  expect(sent).toBeLessThan(512);
  await endless.stop(true);
});

describe.skipIf(!services().postgres.real)("a registry without its database", () => {
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
