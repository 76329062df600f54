/**
 * Tests that test processes on one machine never get the same port, leave no folder behind, and freeze and start
 * servers whole.
 */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { BinaryTestServer, startOnFreePorts } from "../../support/binary-server.ts";
import { freePort } from "../../support/free-port.ts";
import { childrenOf, isStopped } from "../../support/processes.ts";
import { rejection } from "../../support/rejection.ts";
import { lastingFolder, removeFoldersOfFile, temporaryFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";

const PROCESSES = 20;
const PORTS = 200;

/** Starts a process that runs a script with `freePort` and `temporaryFolder`. */
function runScript(script: string) {
  const imports = ["free-port", "temporary-folder"].map(
    (name) =>
      `import * as ${name.replace("-", "_")} from "${join(import.meta.dir, `../support/${name}.ts`)}";`,
  );
  return Bun.spawn([process.execPath, "-e", [...imports, script].join("\n")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
}

test("processes that ask for ports at the same time never get the same port", async () => {
  const processes = Array.from({ length: PROCESSES }, () =>
    runScript(`
      const lines = console[Symbol.asyncIterator]();
      console.log("ready");
      await lines.next();
      console.log(JSON.stringify(Array.from({ length: ${PORTS} }, free_port.freePort)));
      await lines.next();`),
  );
  const outputs = processes.map(({ stdout }) => stdout.pipeThrough(new TextDecoderStream()).getReader());
  const answers = () => Promise.all(outputs.map(async (output) => (await output.read()).value ?? ""));
  const tell = () => {
    for (const { stdin } of processes) {
      stdin.write("\n");
      stdin.flush();
    }
  };
  expect(new Set(await answers())).toEqual(new Set(["ready\n"]));
  tell();
  const ports = (await answers()).flatMap((answer): unknown[] => JSON.parse(answer));
  tell();
  expect(ports).toHaveLength(PROCESSES * PORTS);
  expect(new Set(ports).size).toBe(PROCESSES * PORTS);
});

test("a port in use is not returned", () => {
  const taken = Bun.listen({ hostname: "127.0.0.1", port: freePort(), socket: { data() {} } });
  expect(Array.from({ length: 2 * PORTS }, freePort)).not.toContain(taken.port);
  taken.stop(true);
});

/** Returns an HTTP server at a port, which runs after the shell commands `before`. */
function httpServer(port: number, before = "true", startsMax?: number): BinaryTestServer {
  const url = `http://127.0.0.1:${port}`;
  const script = `require("node:http").createServer((_, answer) => answer.end()).listen(${port}, "127.0.0.1")`;
  return new BinaryTestServer({
    url,
    directory: lastingFolder("server"),
    command: ["sh", "-c", `${before}; exec "$@"`, "sh", process.execPath, "-e", script],
    ready: async () => (await fetch(url, { signal: AbortSignal.timeout(500) })).ok,
    crash: "SIGKILL",
    shutdown: "SIGTERM",
    startsMax,
  });
}

test("a server whose port another program has taken starts on another port", async () => {
  const taken = Bun.listen({ hostname: "127.0.0.1", port: freePort(), socket: { data() {} } });
  const ports = [taken.port, freePort()];
  const server = await startOnFreePorts(() => httpServer(ports.shift() ?? 0));
  expect(ports).toEqual([]);
  expect((await fetch(server.url)).status).toBe(200);
  await server.close();
  taken.stop(true);
});

test("a service that could not reach a store is started again, as often as a supervisor would", async () => {
  const failOnce = "[ -e tried ] || { touch tried; echo 'no store'; exit 1; }";
  const patient = httpServer(freePort(), failOnce, 2);
  await patient.start();
  expect((await fetch(patient.url)).status).toBe(200);
  await patient.close();
  for (const [before, startsMax] of [
    [failOnce, 1],
    ["exit 1", 2],
    ["[ -e tried ] || { touch tried; exit 78; }", 2],
  ] as const) {
    const server = httpServer(freePort(), before, startsMax);
    expect(String(await rejection(server.start()))).toContain("exited before it was ready");
    await server.close();
  }
});

test("a frozen server has no child process that runs on", async () => {
  const server = new BinaryTestServer({
    url: "",
    directory: lastingFolder("server"),
    command: ["sh", "-c", "while :; do sleep 2 & sleep 0.01; done"],
    ready: async () => true,
    crash: "SIGKILL",
    shutdown: "SIGTERM",
  });
  await server.start();
  const children = () => childrenOf(server.pid ?? 0);
  await waitFor(() => children().length > 10, { what: "the first child processes" });
  await server.freeze();
  expect(children().filter((pid) => !isStopped(pid))).toEqual([]);
  await server.close();
});

test("a temporary folder is removed with its file, a lasting one with its process", async () => {
  const [own, lasting] = [temporaryFolder("own"), lastingFolder("lasting")];
  await Bun.write(join(own, "inner/file"), "");
  await removeFoldersOfFile();
  expect([existsSync(own), existsSync(lasting)]).toEqual([false, true]);
  const killed = runScript(`
    const folders = [temporary_folder.temporaryFolder("own"), temporary_folder.lastingFolder("lasting")];
    console.log(JSON.stringify(folders));
    process.kill(process.pid, "SIGKILL");`);
  const folders: string[] = JSON.parse(await killed.stdout.text());
  expect(folders).toHaveLength(2);
  await waitFor(() => !folders.some((folder) => existsSync(folder)), { what: "The removal of the folders" });
});
