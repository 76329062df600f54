import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ADMIN_TOKEN, type Registry, startRegistry } from "../../app/registry/harness.ts";
import { leash } from "../../support/services.ts";
import { waitFor } from "../../support/wait-for.ts";
import { FREE_PORTS } from "../platform/bed.ts";

/** The commands of README.md, as somebody new runs them; only ports and the second registry are others. */

setDefaultTimeout(180_000);

const ROOT = join(import.meta.dir, "../../..");
const readme = await Bun.file(join(ROOT, "README.md")).text();

/** The shell commands under a heading of README.md, a block each. */
function blocks(heading: string): string[] {
  const section = readme.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands]) => commands ?? "");
}

let directory: string;
beforeAll(async () => {
  // the repository under another name, so that what the commands write is left behind nowhere
  directory = await mkdtemp(join(tmpdir(), "ostiary-readme-"));
  const entries = (await readdir(ROOT)).filter((name) => ![".git", ".ostiary", "things.yaml"].includes(name));
  for (const name of entries) await symlink(join(ROOT, name), join(directory, name));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function bash(commands: string, env: Record<string, string> = {}) {
  const child = Bun.spawn(["bash", "-euo", "pipefail", "-c", commands], {
    cwd: directory,
    env: { PATH: process.env.PATH ?? "", HOME: directory, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  leash().process(child.pid);
  void child.exited.then(() => leash().release(child.pid));
  return child;
}

async function output(commands: string): Promise<string> {
  const child = bash(commands);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect(stderr).toBe("");
  expect(child.exitCode).toBe(0);
  return stdout;
}

/** Replaces each `host:port` of the README by where this run has it. */
function moved(commands: string, places: Record<string, string>): string {
  return Object.entries(places).reduce((text, [from, to]) => text.replaceAll(from, to), commands);
}

describe("Publish a route", () => {
  test("leads from a service of one's own to an answer through the gateway", async () => {
    const [serve = "", publish = "", call = "", history = "", ...others] = blocks("Publish a route");
    expect(others).toEqual([]);
    const free = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
    const service = `127.0.0.1:${free.port}`;
    free.stop(true);
    const upstream = bash(`exec ${moved(serve, { "port: 7000": `port: ${free.port}` })}`);
    const platform = bash("exec bun apps/platform/main.ts", FREE_PORTS);
    try {
      const screen = await readUntil(platform.stdout, "/restore");
      const place = (name: string) => screen.match(new RegExp(`${name} +http://([^/\\s]+)`))?.[1] ?? "";
      const places = {
        "127.0.0.1:5001": place("gateway"),
        "127.0.0.1:5002": place("route registry"),
        "127.0.0.1:4001": place("identity provider"),
        "127.0.0.1:7000": service,
      };
      await waitFor(async () => (await fetch(`http://${service}`)).ok, { what: "The service" });
      const published = await output(moved(publish, places));
      expect(published).toStartWith("things: created\n");
      expect(published).toMatch(/^things +upserted +1$/m);
      expect(published).toContain("PUT /org/things/{thing_id} of things serves this request.");
      const echo = JSON.parse(await output(moved(call, places)));
      expect(echo.method).toBe("PUT");
      expect(echo.path).toMatch(/^\/organizations\/[0-9A-Z]{26}\/things\/42$/);
      expect(JSON.stringify(echo.headers)).not.toMatch(/authorization|api-key|ostiary-s-/i);
      const past = await output(`${exportsOf(moved(publish, places))}\n${history}`);
      expect(past).toContain("things is as in revision 1 again, as revision 2.");
      expect(past).toContain("Usage: bun cli");
    } finally {
      for (const child of [upstream, platform]) {
        child.kill();
        await child.exited;
      }
    }
  });
});

describe("Run it for real", () => {
  const [customers = "", staff = "", ...others] = blocks("Run it for real");
  let registry: Registry;
  let second: Registry;
  beforeAll(async () => {
    [registry, second] = await Promise.all([startRegistry(), startRegistry()]);
  });
  afterAll(() => Promise.all([registry.stop(), second.stop()]));

  test("brings the catalogs into a new registry, and later ones too", async () => {
    expect(others).toEqual([]);
    const commands = moved(customers, {
      "http://127.0.0.1:5002": registry.url,
      "ADMIN_TOKEN=…": `ADMIN_TOKEN=${ADMIN_TOKEN}`,
    });
    const printed = await output(commands);
    expect(printed).toMatch(/^identity +http:\/\/identity:3000 +user, organization, member +\d+$/m);
    expect(printed).toMatch(/^audit +http:\/\/audit:3002 +public, user, organization +\d+$/m);
    const again = await output(commands.replaceAll("bun cli apply -", "bun cli diff -"));
    expect(again).toMatch(/^identity: unchanged, current revision 1$/m);
  });

  test("brings the staff's catalog into a registry of its own", async () => {
    const commands = `export ADMIN_TOKEN=${ADMIN_TOKEN}\n${staff}`;
    expect(await output(moved(commands, { "http://127.0.0.1:6002": second.url }))).toMatch(
      /^identity-staff +upserted +1$/m,
    );
  });
});

test("every file that README.md links to is there", () => {
  const links = [...readme.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, path]) => path ?? "");
  expect(links.length).toBeGreaterThan(5);
  expect(links.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

/** The lines that set variables for those that follow. */
function exportsOf(commands: string): string {
  return commands
    .split("\n")
    .filter((line) => line.startsWith("export "))
    .join("\n");
}

/** What a process has written, once that holds `words`; the rest is read on, so that it never waits. */
async function readUntil(stream: ReadableStream<Uint8Array>, words: string): Promise<string> {
  let text = "";
  const { promise, resolve } = Promise.withResolvers<void>();
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes(words)) resolve();
    }
    resolve();
  };
  void read();
  await promise;
  return text;
}
