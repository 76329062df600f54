/** Tests of the directory DATA_DIR: when the platform accepts, refuses, keeps and deletes it. */
import { Database as Sqlite } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { lstat, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "@ostiary/lib/runtime/config";
import { loadPlatform } from "../../../apps/platform/config.ts";
import { openDataDirectory, streamKeys, tokenFrom } from "../../../apps/platform/data-directory.ts";
import { runToEnd } from "../../support/processes/run-to-end.ts";
import { rejection } from "../../support/rejection.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { thrownBy } from "../../support/thrown.ts";
import { FREE_PORTS } from "./bed.ts";

const parent = temporaryFolder("data");

/** Expects that a directory is refused, and returns the message without the directory. */
async function refusal(path: string): Promise<string> {
  const error = await rejection(openDataDirectory(path).then((directory) => directory.close()));
  expect(error).toBeInstanceOf(ConfigError);
  const [, headless = ""] = String(error).split(`  DATA_DIR is ${path}, which cannot be used: `);
  return headless;
}

// OP-57
describe("DATA_DIR is refused with its name and the reason if it is", () => {
  test.each([
    ["a file", (path: string) => writeFile(path, ""), "a file with this name exists."],
    ["a link to nothing", (path: string) => symlink("/no/such", path), "a symbolic link without a target."],
    ["a link to itself", (path: string) => symlink(path, path), "it is a symbolic link without a target."],
  ])("%s", async (name, make, reason) => {
    const path = join(parent, name);
    await make(path);
    expect(await refusal(path)).toContain(reason);
  });

  test("a directory whose token or key cannot be used", async () => {
    const path = join(parent, "files");
    await mkdir(join(path, "admin-token"), { recursive: true });
    const messageOf = async (work: Promise<unknown>) => String(await rejection(work));
    expect(await messageOf(tokenFrom(join(path, "admin-token"), undefined))).toContain(
      "its file admin-token is not a file of this user",
    );
    await writeFile(join(path, "internal-token"), "one\ntwo");
    expect(await messageOf(tokenFrom(join(path, "internal-token"), undefined))).toContain(
      "its file internal-token is not one line of visible ASCII: delete it for a new token.",
    );
    await writeFile(join(path, "audit-stream-keys"), "x", { mode: 0o644 });
    expect(await messageOf(streamKeys(join(path, "audit-stream-keys")))).toContain(
      "its file audit-stream-keys names a file that other users may read",
    );
  });
});

describe("DATA_DIR", () => {
  // OP-56, OP-59
  test("in use is the only problem that a later platform reports, not each of its ports", async () => {
    const path = join(parent, "twice");
    const another = join(parent, "twice by another name");
    const held = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
    const directory = await openDataDirectory(path);
    await symlink(path, another);
    for (const DATA_DIR of [path, another]) {
      const load = () => loadPlatform({ ...FREE_PORTS, DATA_DIR, GATEWAY_PORT: String(held.port) });
      expect(String(thrownBy(ConfigError, load)?.message).split("\n").slice(1)).toEqual([
        `  DATA_DIR is ${DATA_DIR}, which cannot be used: Ostiary already runs there, as process ${process.pid}: use that Ostiary, or stop it first.`,
      ]);
    }
    held.stop(true);
    expect(await refusal(path)).toContain("Ostiary already runs there");
    await directory.close();
    await (await openDataDirectory(another)).close();
  });

  // OP-56
  test("is refused with the id of a platform that notes its id a moment after its claim", async () => {
    const path = join(parent, "claimed");
    await mkdir(path);
    const lock = new Sqlite(join(path, "platform.lock"));
    lock.run("begin exclusive");
    const noting = runToEnd(["sh", "-c", `sleep 0.1; printf 4711 > '${path}/platform.pid'`]);
    expect(await refusal(path)).toContain("Ostiary already runs there, as process 4711: ");
    await noting;
    lock.close();
  });
});

test("a new DATA_DIR is for this user alone", async () => {
  const path = join(parent, "new", "folder");
  await (await openDataDirectory(path)).close();
  expect((await lstat(path)).mode & 0o777).toBe(0o700);
});
