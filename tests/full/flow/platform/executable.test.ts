/**
 * Tests of the executable without Bun, Node, files of the repository and, if run as root, any other program.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FREE_PORTS } from "../../../app/platform/bed.ts";
import { canRunExecutable, executable } from "../../../support/processes/executable.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { type RunningProcess, startCommand } from "../../../support/processes/start-process.ts";
import {
  freshCounterStoreUrl,
  freshDatabase,
  freshRouteStoreUrl,
  services,
} from "../../../support/stores/services.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { startScreen } from "./bed.ts";

setDefaultTimeout(240_000);

const TOKEN = "a-token-of-twenty-characters";
const PORTS = { HOST: "127.0.0.1", PORT: "0", INTERNAL_PORT: "0" };
/** True if the test can run the executable with its own root file system, which only root can. */
const canChroot = process.getuid?.() === 0 && Bun.which("unshare") !== null && Bun.which("ldd") !== null;

let built: string;
let folder: string;
const started: RunningProcess[] = [];
beforeAll(async () => {
  if (!canRunExecutable) return;
  built = await executable();
  folder = temporaryFolder("alone");
});
afterAll(async () => {
  await Promise.all(started.map((each) => each.kill()));
});

async function start(command: string[], env: Record<string, string>, cwd = folder): Promise<RunningProcess> {
  const running = await startCommand(command, env, cwd);
  started.push(running);
  return running;
}

function run(command: string[], env: Record<string, string> = {}, input = "") {
  return runToEnd(command, { cwd: folder, env, input });
}

/** Creates a folder with the executable, the libraries that it is linked with, and no other program. */
async function makeRoot(name: string): Promise<string> {
  const rootFolder = join(folder, name);
  const { stdout } = await run(["ldd", built], { PATH: process.env.PATH ?? "" });
  for (const library of stdout.match(/\/\S+/g) ?? []) {
    await mkdir(join(rootFolder, dirname(library)), { recursive: true });
    await copyFile(library, join(rootFolder, library));
  }
  await mkdir(join(rootFolder, "proc"));
  await copyFile(built, join(rootFolder, "ostiary"));
  return rootFolder;
}

/** Returns a command line that runs `command` with `rootFolder` as the root file system, plus /proc. */
function inChroot(rootFolder: string, mount: string, ...command: string[]): string[] {
  const root = Bun.which("chroot") ?? "/usr/sbin/chroot";
  const script = `${mount} mount --bind /proc '${rootFolder}/proc' && exec ${root} '${rootFolder}' "$@"`;
  return [Bun.which("unshare") ?? "", "--mount", Bun.which("sh") ?? "", "-c", script, "sh", ...command];
}

/**
 * The environment variables of the mount command. Programs in the chroot find no other program on this PATH.
 */
const MOUNTING = { PATH: process.env.PATH ?? "" };

/** Returns the URLs and paths on the start screen, by name. */
async function screen(platform: RunningProcess): Promise<Record<string, string>> {
  const places = Object.entries(await startScreen(platform));
  return Object.fromEntries(places.map(([name, place]) => [name, place.split(" ")[0] ?? ""]));
}

/** Expects that every asset named by a page exists, and returns the number of assets. */
async function assetsOf(page: string): Promise<number> {
  const assets = (await (await fetch(page)).text()).match(/\/[a-z]+\/assets\/[^"]+/g) ?? [];
  for (const asset of assets) expect((await fetch(new URL(asset, page))).status).toBe(200);
  return assets.length;
}

describe.skipIf(!canRunExecutable)("the quick start of the executable", () => {
  test("needs only the C library and /proc: it contains its pages, catalogs and database", async () => {
    const rootFolder = canChroot ? await makeRoot("root") : folder;
    const command = canChroot ? inChroot(rootFolder, "", "/ostiary", "start") : [built, "start"];
    const env = { ...MOUNTING, ...FREE_PORTS, LOG_FILE: "-", DATA_DIR: "data" };
    const platform = await start(command, env);
    const shown = await screen(platform);
    expect(await assetsOf(shown["route registry"] ?? "")).toBeGreaterThan(4);
    expect(await assetsOf(shown.console ?? "")).toBe(2);
    const portal = shown["customer portal"] ?? "";
    expect(await assetsOf(portal)).toBe(3);
    const verifier = await fetch(new URL("/portal/assets/verifier.js", portal));
    expect(verifier.status).toBe(200);
    expect(await verifier.text()).toContain("postMessage");
    const subject = (shown["identity provider"] ?? "").replace("NAME", "alice");
    const headers = { Authorization: `Bearer ${await (await fetch(subject)).text()}` };
    expect((await fetch(`${shown.gateway}/user`, { headers })).status).toBe(200);
    expect((await fetch(`${shown.gateway}/demo/things/1`)).status).toBe(401);
    expect(await platform.stop("SIGINT")).toBe(0);
    expect(platform.stdout.at(-1)).toMatch(
      /^Goodbye\. The data is in \S*\/data: ostiary start continues with it\.$/,
    );
    expect(platform.stderr).toEqual([]);
  });
});

describe.skipIf(!canRunExecutable)("the executable", () => {
  test("has its checksum in SHA256SUMS", async () => {
    const sum = new Bun.CryptoHasher("sha256").update(await Bun.file(built).bytes()).digest("hex");
    expect(await Bun.file(join(dirname(built), "SHA256SUMS")).text()).toBe(`${sum}  ostiary-linux-x64\n`);
  });

  test("reads no file of the current folder", async () => {
    const cwd = join(folder, "hostile");
    await mkdir(cwd);
    await writeFile(join(cwd, ".env"), "REGISTRY_URL=http://127.0.0.1:1\n");
    await writeFile(join(cwd, "bunfig.toml"), 'preload = ["./preload.ts"]\n');
    await writeFile(join(cwd, "preload.ts"), 'console.log("preloaded"); process.exit(9);\n');
    for (const name of ["package.json", "tsconfig.json"]) await writeFile(join(cwd, name), "{ not JSON");
    const { stdout, stderr } = await runToEnd([built, "services"], { cwd, env: { ADMIN_TOKEN: TOKEN } });
    expect(stdout).not.toContain("preloaded");
    expect(stderr).not.toContain("127.0.0.1:1 ");
  });
});

describe.skipIf(!canRunExecutable || !services().etcd.real || !services().redis.real)(
  "the services of the executable",
  () => {
    test("serve a published route with PostgreSQL, etcd and Redis, and exit with 0 at a signal", async () => {
      const upstream = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("here") });
      const ROUTE_STORE_URL = await freshRouteStoreUrl();
      const registry = await start([built, "registry"], {
        ...PORTS,
        ROUTE_STORE_URL,
        ADMIN_TOKEN: TOKEN,
        DATABASE_URL: await freshDatabase(),
      });
      const routes = { routes: [{ path: "/here", methods: ["GET"] }] };
      const services = { alone: { url: upstream.url.origin, public: routes } };
      await writeFile(join(folder, "routes.json"), JSON.stringify({ services }));
      const asked = { REGISTRY_URL: registry.url, ADMIN_TOKEN: TOKEN };
      expect(await run([built, "apply", "routes.json"], asked)).toMatchObject({
        exitCode: 0,
        stderr: "",
      });
      const gateway = await start([built, "gateway"], {
        ...PORTS,
        ROUTE_STORE_URL,
        COUNTER_STORE_URL: await freshCounterStoreUrl(),
        AUDIT_ENABLED: "false",
        CREDENTIAL_VALIDATE_URL: "http://127.0.0.1:1/validate",
        MAX_UPSTREAM_REQUESTS: "4321",
      });
      await waitFor(async () => (await (await fetch(`${gateway.url}/here`)).text()) === "here");
      // The gateway restarted itself once: the runtime reads this variable only when a process starts.
      const environment = await readFile(`/proc/${gateway.pid}/environ`, "utf8");
      expect(environment.split("\0")).toContain("BUN_CONFIG_MAX_HTTP_REQUESTS=4321");
      expect(await gateway.stop("SIGTERM")).toBe(0);
      expect(await registry.stop("SIGINT")).toBe(0);
      expect([...gateway.stderr, ...registry.stderr]).toEqual([]);
      await upstream.stop(true);
    });

    test.each(["identity", "audit"])("include %s with its migrations and pages", async (name) => {
      const service = await start([built, name], { ...PORTS, DATABASE_URL: await freshDatabase() });
      expect((await fetch(`${service.internalUrl}/health/ready`)).status).toBe(200);
      expect((await fetch(`${service.url}/swagger`)).status).toBe(200);
      expect(await service.stop()).toBe(0);
    });
  },
);
