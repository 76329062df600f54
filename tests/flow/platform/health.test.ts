import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { platformVariables } from "@ostiary/platform/config";
import { startSilentServer } from "../../support/silent-server.ts";

const ROOT = join(import.meta.dir, "../../..");
const MAIN = "apps/platform/health/main.ts";

let servers: { stop(closeActive: boolean): unknown }[] = [];
afterEach(() => {
  for (const server of servers) server.stop(true);
  servers = [];
});

/** Starts a listener on an internal port that gives this answer. */
function answering(status: number, body: string): string {
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
  const { PATH = "" } = process.env;
  const child = Bun.spawn(["bun", MAIN], { cwd: ROOT, env: { PATH, ...env }, stdout: "pipe" });
  return { said: (await new Response(child.stdout).text()).trim(), exit_code: await child.exited };
}

test("a ready service is healthy, without output", async () => {
  const INTERNAL_PORT = answering(200, '{"status":"healthy"}');
  expect(await asked({ INTERNAL_PORT })).toEqual({ said: "", exit_code: 0 });
});

test("a service that is not ready is not healthy, and the checks are printed", async () => {
  const INTERNAL_PORT = answering(503, '{"status":"unhealthy","checks":{"database":"no answer"}}');
  const { said, exit_code } = await asked({ INTERNAL_PORT });
  expect(said).toContain('503 {"status":"unhealthy","checks":{"database":"no answer"}}');
  expect(exit_code).toBe(1);
});

test("a port where nothing listens is not healthy", async () => {
  const INTERNAL_PORT = answering(200, "");
  for (const server of servers.splice(0)) server.stop(true);
  const found = await asked({ INTERNAL_PORT });
  expect(found).toEqual({ said: `Nothing answers on 127.0.0.1:${INTERNAL_PORT}.`, exit_code: 1 });
});

test("a stuck process is not healthy, and the check still ends", async () => {
  const silent = await startSilentServer();
  const INTERNAL_PORT = new URL(silent.url).port;
  const { said, exit_code } = await asked({ INTERNAL_PORT });
  await silent.close();
  expect(said).toContain("no answer in 3000 ms");
  expect(exit_code).toBe(1);
});

test("the check calls the service's own address", async () => {
  const INTERNAL_PORT = answering(200, "");
  expect(await asked({ INTERNAL_PORT, HOST: "0.0.0.0" })).toEqual({ said: "", exit_code: 0 });
  expect(await asked({ INTERNAL_PORT, HOST: "127.0.0.1" })).toEqual({ said: "", exit_code: 0 });
  const elsewhere = await asked({ INTERNAL_PORT, HOST: "127.0.0.2" });
  expect(elsewhere.exit_code).toBe(1);
});

test("without INTERNAL_PORT the check calls the default ports of all services", async () => {
  const source = await Bun.file(join(ROOT, MAIN)).text();
  const ports = Array.from(source.matchAll(/"(\d{4})"/g), ([, port]) => Number(port));
  const { properties } = platformVariables;
  expect(ports).toEqual([
    properties.GATEWAY_INTERNAL_PORT.default,
    properties.REGISTRY_INTERNAL_PORT.default,
    properties.IDENTITY_INTERNAL_PORT.default,
    properties.AUDIT_INTERNAL_PORT.default,
    properties.PORTAL_INTERNAL_PORT.default,
  ]);
});
