/** Tests that a platform that starts again finds the files of the start before. */
import { expect, test } from "bun:test";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { type PlatformHere, startPlatformHere } from "../../../app/platform/bed.ts";
import { freshDatabase } from "../../../support/stores/services.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const parent = temporaryFolder("data");

const internalPortOf = async (platform: PlatformHere, service: string) => {
  const lines = (await Bun.file(join(platform.config.DATA_DIR, "ostiary.log")).text()).split("\n");
  const listening = lines.filter((line) => line.includes('"listening"')).map((line) => JSON.parse(line));
  return listening.findLast((line) => line.service === service);
};

// OP-56, OP-61
test("DATA_DIR may be a new relative directory with special characters, and keeps its files for the next start", async () => {
  const path = join(parent, "50%25 #1?");
  const env = { DATA_DIR: relative(process.cwd(), path), DATABASE_URL: await freshDatabase() };
  await mkdir(path);
  // Another program has the process ids of an earlier platform.
  for (const name of ["platform.pid", "database.pid"]) await writeFile(join(path, name), "1");
  const first = await startPlatformHere(env);
  const token = await Bun.file(join(path, "internal-token")).text();
  const feeds = { identity: "lifecycle-events", audit: "usage-events" };
  for (const [service, feed] of Object.entries(feeds)) {
    const { internal_port } = await internalPortOf(first, service);
    const ask = (headers: Record<string, string>) =>
      fetch(`http://127.0.0.1:${internal_port}/internal/${feed}`, { headers });
    expect((await ask({ "X-Platform-Internal-Token": token })).status).toBe(200);
    expect((await ask({})).status).toBe(401);
  }
  const streams = "/organizations/organization-1/audit-streams";
  const post = (platform: PlatformHere, place: string, body: unknown) =>
    fetch(`${platform.addresses.auditUrl}${streams}${place}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
  // The log has no event, so nothing is sent to this URL.
  const created = await post(first, "", { url: "https://receiver.invalid/hook" });
  expect(created.status).toBe(201);
  const { id }: { id: string } = JSON.parse(await created.text());
  await first.shutdown();
  const files = ["admin-token", "audit-signing-key.pem", "audit-stream-keys", "internal-token"];
  expect(await readdir(path)).toEqual(expect.arrayContaining(files));
  for (const name of files) expect((await stat(join(path, name))).mode & 0o777).toBe(0o600);
  expect(await readdir(parent)).not.toContain("50% #1?");

  const second = await startPlatformHere(env);
  expect(await Bun.file(join(path, "internal-token")).text()).toBe(token);
  const tested = await post(second, `/${id}/test`, undefined);
  expect(JSON.parse(await tested.text())).toMatchObject({ delivered: false, status: null });
  await second.shutdown();
});
