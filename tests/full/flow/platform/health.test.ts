import { afterEach, expect, test } from "bun:test";
import { startSilentServer } from "../../../support/http/silent-server.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";

const MAIN = "apps/platform/health/main.ts";

let servers: { stop(closeActive: boolean): unknown }[] = [];
afterEach(() => {
  for (const server of servers) server.stop(true);
  servers = [];
});

/** Starts a server with this response at /health/ready, and returns its port. */
function serving(status: number, body: string): string {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      new URL(url).pathname === "/health/ready"
        ? new Response(body, { status })
        : new Response(null, { status: 418 }),
  });
  servers.push(server);
  return String(server.port);
}

async function asked(env: Record<string, string>) {
  const { exitCode, stdout } = await runToEnd(["bun", MAIN], { env: { PATH: process.env.PATH, ...env } });
  return { output: stdout.trim(), exitCode };
}

test("the health check succeeds without output for a ready service", async () => {
  const INTERNAL_PORT = serving(200, '{"status":"healthy"}');
  expect(await asked({ INTERNAL_PORT })).toEqual({ output: "", exitCode: 0 });
});

// OP-133
test("the health check calls no proxy of the environment", async () => {
  const INTERNAL_PORT = serving(200, "");
  const proxy = `http://127.0.0.1:${serving(503, "")}`;
  expect(await asked({ INTERNAL_PORT, HTTP_PROXY: proxy, NO_PROXY: "" })).toEqual({
    output: "",
    exitCode: 0,
  });
});

test("the health check fails for a service that is not ready, and prints its checks", async () => {
  const INTERNAL_PORT = serving(503, '{"status":"unhealthy","checks":{"database":"no response"}}');
  const { output, exitCode } = await asked({ INTERNAL_PORT });
  expect(output).toContain('503 {"status":"unhealthy","checks":{"database":"no response"}}');
  expect(exitCode).toBe(1);
});

test("the health check fails after 3 s when the process does not respond", async () => {
  const silent = await startSilentServer();
  const INTERNAL_PORT = new URL(silent.url).port;
  const { output, exitCode } = await asked({ INTERNAL_PORT });
  await silent.close();
  expect(output).toContain("no response in 3000 ms");
  expect(exitCode).toBe(1);
});
