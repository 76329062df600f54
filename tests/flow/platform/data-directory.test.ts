import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { freePort } from "../../support/free-port.ts";
import { freshDatabase } from "../../support/services.ts";
import { ProcessEnded, type RunningProcess } from "../../support/start-process.ts";
import { waitFor } from "../../support/wait-for.ts";
import { FREE_PORTS, startPlatform } from "./bed.ts";

/** DATA_DIR in every state. */

setDefaultTimeout(180_000);

let parent: string;
const started: RunningProcess[] = [];
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "ostiary-data-"));
});
afterAll(async () => {
  await Promise.all(started.map((platform) => platform.kill()));
  await rm(parent, { recursive: true, force: true });
});

async function start(DATA_DIR: string, env: Record<string, string> = {}): Promise<RunningProcess> {
  const platform = await startPlatform({ DATA_DIR, ...env });
  started.push(platform);
  return platform;
}

function alreadyRuns(path: string, { pid }: RunningProcess): string {
  return `DATA_DIR is ${path}, which cannot be used: Ostiary already runs there, as process ${pid}: use that Ostiary, or stop it first.`;
}

async function refusal(DATA_DIR: string): Promise<string> {
  const failure = await start(DATA_DIR).catch((error: unknown) => error);
  if (!(failure instanceof ProcessEnded)) throw new Error(`It must refuse to start: ${Bun.inspect(failure)}`);
  expect(failure.exit_code).toBe(78);
  expect(failure.stderr).toHaveLength(2);
  expect(failure.stderr[0]).toBe("The configuration is not valid:");
  return failure.stderr[1] ?? "";
}

// OP-57
describe("a DATA_DIR that cannot be used is refused with its name and the reason", () => {
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

  test("one below a file", async () => {
    await writeFile(join(parent, "below"), "");
    expect(await refusal(join(parent, "below", "data"))).toContain("a file with this name exists.");
  });

  test("one that cannot be made", async () => {
    expect(await refusal("/proc/ostiary")).toContain(
      "a folder above it does not exist and cannot be created.",
    );
  });

  test("one whose admin token cannot be written", async () => {
    await mkdir(join(parent, "token", "admin-token"), { recursive: true });
    expect(await refusal(join(parent, "token"))).toContain("its file admin-token cannot be written.");
  });

  // Root may write everywhere, so the process runs as nobody when the tests run as root.
  test.skipIf(Bun.which("setpriv") === null && process.getuid?.() === 0)(
    "one that this user may not write",
    async () => {
      const path = join(parent, "closed");
      await mkdir(path);
      await chmod(parent, 0o755);
      await chmod(path, 0o555);
      const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
      const child = Bun.spawn(
        [...(process.getuid?.() === 0 ? asNobody : []), process.execPath, "apps/platform/main.ts"],
        {
          env: { PATH: process.env.PATH ?? "", ...FREE_PORTS, DATA_DIR: path },
          stdout: "ignore",
          stderr: "pipe",
        },
      );
      expect(await child.stderr.text()).toContain(
        `DATA_DIR is ${path}, which cannot be used: permission denied.\n`,
      );
      expect(await child.exited).toBe(78);
    },
  );
});

describe("a DATA_DIR that can be used", () => {
  test("may be relative and hold characters with a meaning in URLs", async () => {
    const path = join(parent, "50%25 #1?");
    const platform = await start(relative(process.cwd(), path));
    expect(await platform.stop()).toBe(0);
    expect((await readdir(path)).sort()).toEqual([
      "admin-token",
      "audit-signing-key.pem",
      "audit-stream-keys",
      "database",
      "database.lock",
      "platform.lock",
    ]);
    expect(await readdir(parent)).not.toContain("50% #1?");
  });

  // OP-61
  test("keeps the key of streams, so that a stream of an earlier start can still sign", async () => {
    const path = join(parent, "streams");
    const auditOf = async (platform: RunningProcess) => {
      const isAudit = ({ message, service }: Record<string, unknown>) =>
        message === "listening" && service === "audit";
      const line = await waitFor(() => platform.logs().find(isAudit), { timeout_ms: 60_000 });
      return `http://127.0.0.1:${line.port}`;
    };
    const streams = "/organizations/organization-1/audit-streams";
    const post = (url: string, body: unknown) =>
      fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
    const env = { DATABASE_URL: await freshDatabase() };
    const first = await start(path, env);
    // nothing is delivered there: the log has no event
    const created = await post(`${await auditOf(first)}${streams}`, { url: "https://receiver.invalid/hook" });
    expect(created.status).toBe(201);
    const { id }: { id: string } = JSON.parse(await created.text());
    await first.stop();
    expect((await stat(join(path, "audit-stream-keys"))).mode & 0o777).toBe(0o600);
    const second = await start(path, env);
    const tested = await post(`${await auditOf(second)}${streams}/${id}/test`, undefined);
    expect(JSON.parse(await tested.text())).toMatchObject({ delivered: false, status: null });
    expect(await second.stop()).toBe(0);
  });

  test("refuses a key of streams that others may read", async () => {
    const path = join(parent, "open keys");
    await mkdir(path);
    await writeFile(join(path, "audit-stream-keys"), "x", { mode: 0o644 });
    expect(await refusal(path)).toContain(
      "its file audit-stream-keys names a file that other users may read",
    );
  });

  // OP-56
  test("has one platform, even when two start at the same instant, and is free once that is killed", async () => {
    const path = join(parent, "contended");
    const DATABASE_URL = await freshDatabase();
    const both = await Promise.allSettled([start(path, { DATABASE_URL }), start(path, { DATABASE_URL })]);
    const [winner] = both.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const [loser] = both.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    if (!winner || !(loser instanceof ProcessEnded)) throw new Error(Bun.inspect(both));
    expect(loser.exit_code).toBe(78);
    expect(loser.stderr).toEqual(["The configuration is not valid:", `  ${alreadyRuns(path, winner)}`]);
    await winner.kill();
    expect(await (await start(path, { DATABASE_URL })).stop()).toBe(0);
  });

  // OP-59
  test("names the platform that runs there, and not each of its ports", async () => {
    const path = join(parent, "twice");
    const env = { DATABASE_URL: await freshDatabase(), GATEWAY_PORT: String(freePort()) };
    const first = await start(path, env);
    await symlink(path, join(parent, "twice by another name"));
    for (const name of [path, join(parent, "twice by another name")]) {
      const second = await start(name, env).catch((error: unknown) => error);
      if (!(second instanceof ProcessEnded)) throw new Error(Bun.inspect(second));
      expect(second.exit_code).toBe(78);
      expect(second.stderr).toEqual(["The configuration is not valid:", `  ${alreadyRuns(name, first)}`]);
    }
    expect((await fetch(`${first.internal_url}/health/ready`)).status).toBe(200);
    await first.kill();
    expect(await (await start(path, env)).stop()).toBe(0);
  });

  test("is not held by a program with the process id of an earlier platform", async () => {
    const path = join(parent, "stale");
    await mkdir(path);
    for (const name of ["platform.pid", "database.pid"])
      await writeFile(join(path, name), String(process.pid));
    expect(await (await start(path)).stop()).toBe(0);
  });
});
