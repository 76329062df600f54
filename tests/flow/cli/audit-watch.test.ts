import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Checkpoint, SigningJwk } from "@ostiary/lib/domain/proof";
import { type AuditService, json } from "../../app/audit/audit-service.ts";
import { exportProof, keysOf, startProvenAudit, writeEvents } from "../../app/audit/proof-bed.ts";
import { useCli } from "./bed.ts";

setDefaultTimeout(60_000);

/** A log that shows what a test lets it show. */
interface ShownLog {
  url: string;
  show(checkpoints: readonly Checkpoint[], pageSize?: number): void;
  stop(): void;
}

function showLog(keys: readonly SigningJwk[]): ShownLog {
  let [shown, size]: [readonly Checkpoint[], number] = [[], 2];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/.well-known/jwks.json") return Response.json({ keys });
      const before = Number(searchParams.get("starting_after") ?? Number.MAX_SAFE_INTEGER);
      const rest = shown.filter(({ number }) => number < before);
      return Response.json({ audit_checkpoints: rest.slice(0, size), has_more: rest.length > size });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    show: (checkpoints, pageSize = 2) => {
      shown = checkpoints;
      size = pageSize;
    },
    stop: () => server.stop(true),
  };
}

// AU-147
describe("audit watch", () => {
  const { cli, file, directory } = useCli();
  let audit: AuditService;
  let keys: SigningJwk[];
  let log: ShownLog;
  let all: Checkpoint[];

  beforeAll(async () => {
    audit = await startProvenAudit();
    for (let n = 0; n < 6; n++) {
      await writeEvents(audit, 2, { organization_id: `watched-${n}` });
      await exportProof(audit, `/organizations/watched-${n}/audit-events`);
    }
    keys = await keysOf(audit);
    const page = await json(await audit.get("/audit-checkpoints?limit=100"));
    all = page.audit_checkpoints;
    log = showLog(keys);
  });
  afterAll(async () => {
    log.stop();
    await audit.stop();
  });

  const checkpointAt = (index: number): Checkpoint => {
    const found = all[index];
    if (found === undefined) throw new Error("The log has too few checkpoints.");
    return found;
  };

  let count = 0;
  /** Keeps a checkpoint as the watcher's state, and returns the file. */
  const keep = async (checkpoint: Checkpoint | undefined) => {
    count += 1;
    return file(`state-${count}.json`, JSON.stringify(checkpoint));
  };
  const watch = (state: string, url = log.url, more: string[] = []) =>
    cli(["audit", "watch", url, "--state", state, "--once", ...more]);

  test("keeps the newest checkpoint, and follows the log of a running service over pages", async () => {
    const state = join(directory(), "first.json");
    const trusted = await file("keys.json", JSON.stringify({ keys }));
    log.show(all.slice(4));
    expect(await watch(state)).toMatchObject({ exit_code: 0 });
    expect(await Bun.file(state).json()).toEqual(all[4] ?? {});
    const found = await watch(state, audit.url, ["--keys", trusted]);
    expect([found.exit_code, found.stderr]).toEqual([0, ""]);
    expect(found.stdout).toContain("later than the kept one, and each follows.");
    expect((await Bun.file(state).json()).number).toBeGreaterThanOrEqual(all[0]?.number ?? 0);
  });

  test("exits with 1 for a log that went back, and keeps both checkpoints", async () => {
    const state = await keep(all[0]);
    log.show(all.slice(3));
    const { exit_code, stderr } = await watch(state);
    expect([exit_code, stderr]).toEqual([1, expect.stringContaining("The log went back to checkpoint")]);
    expect(await Bun.file(state).json()).toEqual(all[0] ?? {});
    expect(await Bun.file(`${state}.conflict`).json()).toEqual(all[3] ?? {});
    log.show([]);
    expect((await watch(state)).stderr).toContain("The log has no checkpoint, and checkpoint");
  });

  test("exits with 1 for a log that leaves out, changes or forks a checkpoint", async () => {
    const oldest = all.at(-1);
    const changed = { ...checkpointAt(2), map: "00".repeat(32) };
    const cases: [readonly Checkpoint[], string][] = [
      [all.toSpliced(2, 1), "does not follow checkpoint"],
      [all.with(2, { ...changed, jws: checkpointAt(2).jws }), "is not signed by a known key"],
      [all.with(2, { ...changed, jws: null }), "is not signed"],
      [all.slice(0, -1), "The list ends at checkpoint"],
    ];
    for (const [shown, message] of cases) {
      log.show(shown);
      const { exit_code, stderr } = await watch(await keep(oldest));
      expect([exit_code, stderr]).toEqual([1, expect.stringContaining(message)]);
    }
    const fork = { ...checkpointAt(1), map: "00".repeat(32), jws: null };
    log.show(all);
    const found = await watch(await keep(fork));
    expect([found.exit_code, found.stderr]).toEqual([
      1,
      expect.stringContaining("There are two checkpoints"),
    ]);
  });

  test("exits with 4 and changes nothing when the log gives no answer, or another one", async () => {
    const state = join(directory(), "none.json");
    for (const url of ["http://127.0.0.1:9", `${audit.url}/nowhere`]) {
      expect(await watch(state, url)).toMatchObject({ exit_code: 4 });
      expect(existsSync(state)).toBe(false);
    }
  });

  test("exits with 2 for a wrong command line or a state that is no checkpoint", async () => {
    const bad = await file("bad.json", "no checkpoint");
    log.show(all);
    for (const parameters of [
      ["audit", "watch", log.url],
      ["audit", "watch", "ftp://x", "--state", "s"],
      ["audit", "watch", log.url, "--state", bad, "--once"],
      ["audit", "watch", log.url, "--state", "s", "--interval", "0"],
      ["audit", "watch", log.url, "--state", "s", "--once", "--keys", bad],
    ]) {
      expect((await cli(parameters)).exit_code).toBe(2);
    }
  });
});
