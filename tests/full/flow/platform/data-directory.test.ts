/** Tests of the folder DATA_DIR: when the platform accepts, refuses or shares it. */
import { Database as Sqlite } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, chown, lstat, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { ConfigError } from "@ostiary/lib/runtime/config";
import { checkDataDirectory, tokenFrom } from "../../../../apps/platform/data-directory.ts";
import { freePort } from "../../../support/http/free-port.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { ProcessEnded, type RunningProcess } from "../../../support/processes/start-process.ts";
import { rejection } from "../../../support/rejection.ts";
import { freshDatabase } from "../../../support/stores/services.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { FREE_PORTS, startPlatform } from "./bed.ts";

setDefaultTimeout(180_000);

const parent = temporaryFolder("data");
const started: RunningProcess[] = [];
afterAll(async () => {
  await Promise.all(started.map((platform) => platform.kill()));
});

async function start(DATA_DIR: string, env: Record<string, string> = {}): Promise<RunningProcess> {
  const platform = await startPlatform({ DATA_DIR, ...env });
  started.push(platform);
  return platform;
}

/** Waits for a service of the platform, and returns its log line with its ports. */
function portsOf(platform: RunningProcess, name: string): Promise<Record<string, unknown>> {
  const isListening = ({ message, service }: Record<string, unknown>) =>
    message === "listening" && service === name;
  return waitFor(() => platform.logs().find(isListening), { timeoutMs: 60_000 });
}

function alreadyRuns(path: string, { pid }: RunningProcess): string {
  return `  DATA_DIR is ${path}, which cannot be used: Ostiary already runs there, as process ${pid}: use that Ostiary, or stop it first.`;
}

/** Returns the only line below the headline on standard error of a platform that exits with 78. */
function refusalOf(failure: unknown): string {
  if (!(failure instanceof ProcessEnded))
    throw new Error(`The platform must refuse to start: ${Bun.inspect(failure)}`);
  const [headline, line = "", ...more] = failure.stderr;
  expect([failure.exitCode, headline, more]).toEqual([78, "The configuration is not valid:", []]);
  return line;
}

async function refusal(DATA_DIR: string, env: Record<string, string> = {}): Promise<string> {
  return refusalOf(await rejection(start(DATA_DIR, env)));
}

// OP-57
describe("DATA_DIR is refused with its name and the reason if it is", () => {
  test.each([
    ["a file", async (path: string) => writeFile(path, ""), "a file with this name exists."],
    [
      "a link to nothing",
      (path: string) => symlink("/no/such", path),
      "it is a symbolic link without a target.",
    ],
    ["a link to itself", (path: string) => symlink(path, path), "it is a symbolic link without a target."],
  ])("%s", async (name, make, reason) => {
    const path = join(parent, name);
    await make(path);
    expect(await refusal(path)).toBe(`  DATA_DIR is ${path}, which cannot be used: ${reason}`);
  });

  test("a folder below a file", async () => {
    await writeFile(join(parent, "below"), "");
    expect(await refusal(join(parent, "below", "data"))).toContain("a file with this name exists.");
  });

  test("a folder that cannot be created", async () => {
    expect(await refusal("/proc/ostiary")).toContain(
      "a folder above it does not exist and cannot be created.",
    );
  });

  test("a folder in which the admin token cannot be written", async () => {
    await mkdir(join(parent, "token", "admin-token"), { recursive: true });
    expect(await refusal(join(parent, "token"))).toContain("its file admin-token is not a file of this user");
  });

  test("a folder whose internal token no header can carry", async () => {
    await mkdir(join(parent, "lines"));
    await writeFile(join(parent, "lines", "internal-token"), "one\ntwo");
    expect(await refusal(join(parent, "lines"))).toContain(
      "its file internal-token is not one line of visible ASCII: delete it for a new token.",
    );
  });

  // Root may write to every folder. If the tests run as root, the platform therefore runs as `nobody`.
  test.skipIf(Bun.which("setpriv") === null && process.getuid?.() === 0)(
    "a folder that the user may not write to",
    async () => {
      const path = join(parent, "closed");
      await mkdir(path);
      await chmod(parent, 0o755);
      await chmod(path, 0o555);
      const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
      const { exitCode, stderr } = await runToEnd(
        [...(process.getuid?.() === 0 ? asNobody : []), process.execPath, "apps/platform/main.ts"],
        { env: { PATH: process.env.PATH, ...FREE_PORTS, DATA_DIR: path } },
      );
      expect(stderr).toContain(`DATA_DIR is ${path}, which cannot be used: permission denied.\n`);
      expect(exitCode).toBe(78);
    },
  );
});

describe("DATA_DIR", () => {
  test("may be a new folder with a relative path and characters that have a meaning in URLs", async () => {
    const path = join(parent, "50%25 #1?");
    const platform = await start(relative(process.cwd(), path));
    expect(await platform.stop()).toBe(0);
    expect((await readdir(path)).sort()).toEqual([
      "admin-token",
      "audit-signing-key.pem",
      "audit-stream-keys",
      "database",
      "database.lock",
      "internal-token",
      "platform.lock",
    ]);
    expect(await readdir(parent)).not.toContain("50% #1?");
  });

  // OP-56
  test("keeps the internal token in a file, which opens the feeds of identity and audit", async () => {
    const path = join(parent, "internal token");
    const env = { DATABASE_URL: await freshDatabase() };
    const platform = await start(path, env);
    const file = join(path, "internal-token");
    const token = await Bun.file(file).text();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const feeds = { identity: "lifecycle-events", audit: "usage-events" };
    for (const [service, feed] of Object.entries(feeds)) {
      const { internal_port } = await portsOf(platform, service);
      const ask = (headers: Record<string, string>) =>
        fetch(`http://127.0.0.1:${internal_port}/internal/${feed}`, { headers });
      expect((await ask({ "X-Platform-Internal-Token": token })).status).toBe(200);
      expect((await ask({})).status).toBe(401);
    }
    expect(await platform.stop()).toBe(0);
    const second = await start(path, env);
    expect(await Bun.file(file).text()).toBe(token);
    expect(await second.stop()).toBe(0);
  });

  // OP-61
  test("keeps the stream key, so that a stream of an earlier start can still sign", async () => {
    const path = join(parent, "streams");
    const auditOf = async (platform: RunningProcess) =>
      `http://127.0.0.1:${(await portsOf(platform, "audit")).port}`;
    const streams = "/organizations/organization-1/audit-streams";
    const post = (url: string, body: unknown) =>
      fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
    const env = { DATABASE_URL: await freshDatabase() };
    const first = await start(path, env);
    // The log has no event, so nothing is sent to this URL.
    const created = await post(`${await auditOf(first)}${streams}`, { url: "https://receiver.invalid/hook" });
    await first.stop();
    expect(created.status).toBe(201);
    const { id }: { id: string } = JSON.parse(await created.text());
    expect((await stat(join(path, "audit-stream-keys"))).mode & 0o777).toBe(0o600);
    const second = await start(path, env);
    const tested = await post(`${await auditOf(second)}${streams}/${id}/test`, undefined);
    expect(await second.stop()).toBe(0);
    expect(JSON.parse(await tested.text())).toMatchObject({ delivered: false, status: null });
  });

  test("is refused when other users may read its stream key", async () => {
    const path = join(parent, "open keys");
    await mkdir(path);
    await writeFile(join(path, "audit-stream-keys"), "x", { mode: 0o644 });
    expect(await refusal(path)).toContain(
      "its file audit-stream-keys names a file that other users may read",
    );
  });

  // OP-56
  test("is used by one of two platforms that start at once, and is free after a kill", async () => {
    const path = join(parent, "contended");
    const DATABASE_URL = await freshDatabase();
    const both = await Promise.allSettled([start(path, { DATABASE_URL }), start(path, { DATABASE_URL })]);
    const [winner] = both.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const [loser] = both.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    if (!winner) throw new Error(Bun.inspect(both));
    expect(refusalOf(loser)).toBe(alreadyRuns(path, winner));
    await winner.kill();
    expect(await (await start(path, { DATABASE_URL })).stop()).toBe(0);
  });

  // OP-56
  test("is refused with the id of a platform that notes its id a moment after its claim", async () => {
    const path = join(parent, "claimed");
    await mkdir(path);
    const lock = new Sqlite(join(path, "platform.lock"));
    lock.run("begin exclusive");
    const noting = runToEnd(["sh", "-c", `sleep 0.1; printf 4711 > '${path}/platform.pid'`]);
    expect(checkDataDirectory({ DATA_DIR: path })).toMatchObject([
      { message: expect.stringContaining("Ostiary already runs there, as process 4711: ") },
    ]);
    await noting;
    lock.close();
  });

  // OP-59
  test("in use is the only problem that a later platform reports, not each of its ports", async () => {
    const path = join(parent, "twice");
    const another = join(parent, "twice by another name");
    const env = { DATABASE_URL: await freshDatabase(), GATEWAY_PORT: String(freePort()) };
    const first = await start(path, env);
    await symlink(path, another);
    for (const name of [path, another]) expect(await refusal(name, env)).toBe(alreadyRuns(name, first));
    expect((await fetch(`${first.internalUrl}/health/ready`)).status).toBe(200);
    await first.kill();
    expect(await (await start(path, env)).stop()).toBe(0);
  });

  test("is free when another program has the process id of an earlier platform", async () => {
    const path = join(parent, "stale");
    await mkdir(path);
    for (const name of ["platform.pid", "database.pid"])
      await writeFile(join(path, name), String(process.pid));
    expect(await (await start(path)).stop()).toBe(0);
  });
});

describe("the file of a token", () => {
  const made = async (name: string, text: string, mode: number) => {
    const file = join(parent, name);
    await writeFile(file, text);
    await chmod(file, mode);
    return file;
  };
  const modeOf = async (file: string) => (await lstat(file)).mode & 0o777;

  test.each([
    ["kept", undefined, "kept"],
    ["given", "new", "new"],
    ["", undefined, expect.stringMatching(/^[\w-]{32}$/)],
  ])("that holds %p is closed to others, also if it was open", async (text, given, token) => {
    const file = await made("open", text, 0o666);
    expect(await tokenFrom(file, given)).toEqual(token);
    expect([await Bun.file(file).text(), await modeOf(file)]).toEqual([token, 0o600]);
  });

  test("may not be a link, and no token is written to the link's target", async () => {
    const [target, link] = [await made("target", "known", 0o644), join(parent, "link")];
    await symlink(target, link);
    expect(await rejection(tokenFrom(link, undefined))).toBeInstanceOf(ConfigError);
    expect(await tokenFrom(link, "new")).toBe("new");
    expect([await Bun.file(target).text(), await Bun.file(link).text()]).toEqual(["known", "new"]);
  });

  test.skipIf(process.getuid?.() !== 0)("may not belong to another user, who knows its token", async () => {
    const file = await made("theirs", "known", 0o644);
    await chown(file, 65534, 65534);
    expect(await rejection(tokenFrom(file, undefined))).toBeInstanceOf(ConfigError);
    expect(await tokenFrom(file, "new")).toBe("new");
    expect((await lstat(file)).uid).toBe(0);
  });
});
