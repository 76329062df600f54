import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadSigningKey } from "@ostiary/audit/signing-key/key-file";
import {
  type Checkpoint,
  checkpointText,
  type Hash,
  leafHash,
  type SigningJwk,
} from "@ostiary/lib/domain/proof";
import { logKey, noteText, rootOfLeaves, signNote, treeHeadText } from "@ostiary/lib/domain/tlog";
import { type AuditService, json } from "../../../app/audit/audit-service.ts";
import {
  exportProof,
  keysOf,
  startProvenAudit,
  writeEvents,
  writeSigningKey,
} from "../../../app/audit/proof-bed.ts";
import { useCli } from "../../../app/cli/bed.ts";

setDefaultTimeout(60_000);

/** A server with the public endpoints of a log. It returns the checkpoints and the tree that a test sets. */
interface ShownLog {
  url: string;
  show(checkpoints: readonly Checkpoint[], pageSize?: number): void;
  /** Sets the signed root and the leaves of the tree. With `null` the log has no tree. */
  showTree(tree: { note: string; leaves: readonly Hash[] } | null): void;
  stop(): void;
}

function showLog(keys: readonly SigningJwk[]): ShownLog {
  let [shown, size]: [readonly Checkpoint[], number] = [[], 2];
  let tree: { note: string; leaves: readonly Hash[] } | null = null;
  const ofTree = (path: string) => {
    if (path === "checkpoint" && tree !== null) return new Response(tree.note);
    const width = Number(/^tile\/0\/000\.p\/([0-9]+)$/.exec(path)?.[1] ?? Number.POSITIVE_INFINITY);
    if (tree === null || width > tree.leaves.length) return new Response(null, { status: 404 });
    return new Response(Buffer.concat(tree.leaves.slice(0, width)));
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/.well-known/jwks.json") return Response.json({ keys });
      if (pathname.startsWith("/audit-log/")) return ofTree(pathname.slice("/audit-log/".length));
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
    showTree: (shownTree) => {
      tree = shownTree;
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

  const keyFile = writeSigningKey();
  beforeAll(async () => {
    audit = await startProvenAudit({ env: { AUDIT_SIGNING_KEY_FILE: keyFile } });
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
  /** Writes a checkpoint as the state file of a watcher, and returns the path. */
  const keep = async (checkpoint: Checkpoint | undefined) => {
    count += 1;
    return file(`state-${count}.json`, JSON.stringify(checkpoint));
  };
  const watch = (state: string, url = log.url, more: string[] = []) =>
    cli(["audit", "watch", url, "--state", state, "--once", ...more]);

  test("keeps the newest checkpoint, and follows a running service over several pages", async () => {
    const state = join(directory(), "first.json");
    const trusted = await file("keys.json", JSON.stringify({ keys }));
    log.show(all.slice(4));
    const once = ["audit", "watch", log.url, "--state", state, "--once"];
    expect(await cli(once)).toMatchObject({ exitCode: 0 });
    expect(await Bun.file(state).json()).toEqual(all[4] ?? {});
    const found = await watch(state, audit.url, ["--keys", trusted]);
    expect([found.exitCode, found.stderr]).toEqual([0, ""]);
    expect(found.stdout).toContain("after the kept one, each linked to its predecessor.");
    expect((await Bun.file(state).json()).number).toBeGreaterThanOrEqual(all[0]?.number ?? 0);
  });

  test("exits with 1 for a log that went back, and keeps both checkpoints", async () => {
    const state = await keep(all[0]);
    log.show(all.slice(3));
    const { exitCode, stderr } = await watch(state);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("The log shrank to checkpoint")]);
    expect(await Bun.file(state).json()).toEqual(all[0] ?? {});
    expect(await Bun.file(`${state}.conflict`).json()).toEqual(all[3] ?? {});
    log.show([]);
    expect((await watch(state)).stderr).toContain("The log has no checkpoint, but the kept checkpoint");
  });

  test("exits with 1 for a log that leaves out, changes or forks a checkpoint", async () => {
    const oldest = all.at(-1);
    const changed = { ...checkpointAt(2), map: "00".repeat(32) };
    const cases: [readonly Checkpoint[], string][] = [
      [all.toSpliced(2, 1), "does not follow checkpoint"],
      [all.with(2, { ...changed, jws: checkpointAt(2).jws }), "is not signed by a known key"],
      [all.with(2, { ...changed, jws: null }), "is not signed"],
      [all.slice(0, -1), "The list of checkpoints ends at"],
    ];
    for (const [shown, message] of cases) {
      log.show(shown);
      const { exitCode, stderr } = await watch(await keep(oldest));
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
    }
    const fork = { ...checkpointAt(1), map: "00".repeat(32), jws: null };
    log.show(all);
    const found = await watch(await keep(fork));
    expect([found.exitCode, found.stderr]).toEqual([
      1,
      expect.stringContaining("differs from the kept checkpoint"),
    ]);
  });

  // AU-200
  describe("with the tree of a log", () => {
    const leavesOf = (checkpoints: readonly Checkpoint[]) =>
      checkpoints.toReversed().map((each) => leafHash(new TextEncoder().encode(checkpointText(each))));
    /**
     * Returns a root over these leaves, signed with the log's key, as a dishonest operator of the log could.
     */
    const rootOf = async (leaves: readonly Hash[], file = keyFile): Promise<string> => {
      const key = await loadSigningKey(file);
      const { publicKey } = logKey(key.jwk, "log.example/watched");
      const head = { origin: "log.example/watched", size: leaves.length, root: rootOfLeaves(leaves) };
      const text = treeHeadText({ ...head, extensions: [] });
      const signer = { name: head.origin, publicKey, privateKey: key.privateKey };
      return noteText({ text, signatures: [await signNote(text, signer)] });
    };
    /**
     * Writes a state with the root over the first `size` leaves, and lets the log show the tree over `shown`.
     */
    const kept = async (size: number, shown: readonly Hash[], note?: string) => {
      log.show(all, all.length);
      const state = await keep(all.at(-1));
      await file(`state-${count}.json.root`, await rootOf(leavesOf(all).slice(0, size)));
      log.showTree({ leaves: shown, note: note ?? (await rootOf(shown)) });
      return state;
    };
    const rewritten = (at: number) =>
      leavesOf(all).map((leaf, index) => (index === at ? leafHash(new Uint8Array(1)) : leaf));
    afterEach(() => log.showTree(null));

    test("keeps the newest root, and follows the tree of a running service", async () => {
      const leaves = leavesOf(all);
      const state = await kept(2, leaves);
      const found = await watch(state);
      expect([found.exitCode, found.stderr]).toEqual([0, ""]);
      expect(found.stdout).toContain(`The tree of ${leaves.length} checkpoints extends the kept tree.`);
      const real = await file("real.json", JSON.stringify(all.at(-1)));
      for (let look = 0; look < 2; look++)
        expect(await watch(real, audit.url)).toMatchObject({ exitCode: 0 });
      const root = await Bun.file(`${real}.root`).text();
      expect(root).toStartWith("ostiary/audit-log\n");
    });

    test("does not replace the kept root with an older one, such as from a cache", async () => {
      const leaves = leavesOf(all);
      const state = await kept(leaves.length, leaves, await rootOf(leaves.slice(0, 3)));
      const before = await Bun.file(`${state}.root`).text();
      expect(await watch(state)).toMatchObject({ exitCode: 0 });
      expect(await Bun.file(`${state}.root`).text()).toBe(before);
    });

    test("exits with 1 for a signed tree that was rewritten, forked or truncated", async () => {
      const leaves = leavesOf(all);
      const refused = async (state: string, message: string) => {
        const { exitCode, stderr } = await watch(state);
        expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
        expect(existsSync(`${state}.root.conflict`)).toBe(true);
      };
      await refused(await kept(3, rewritten(1)), "does not begin with the kept tree of 3");
      await refused(await kept(leaves.length, rewritten(4)), "differs from the kept tree of the same size");
      await refused(await kept(leaves.length, leaves.slice(0, 4)), "The tree shrank to 4 checkpoints");
      await refused(await kept(1, rewritten(leaves.length - 1)), "of the list is not in the tree");
      const other = await rootOf(leaves, writeSigningKey());
      await refused(await kept(2, leaves, other), "is not signed by a known key");
    });

    test("exits with 4 when the tree is gone, and with 2 for a kept root that cannot be read", async () => {
      const state = await kept(2, leavesOf(all));
      log.showTree(null);
      expect(await watch(state)).toMatchObject({ exitCode: 4 });
      await file(`state-${count}.json.root`, "no root");
      expect(await watch(state)).toMatchObject({ exitCode: 2 });
    });
  });

  test("exits with 4 and writes no state when the server does not answer or is not a log", async () => {
    const state = join(directory(), "none.json");
    for (const url of ["http://127.0.0.1:9", `${audit.url}/nowhere`]) {
      expect(await watch(state, url)).toMatchObject({ exitCode: 4 });
      expect(existsSync(state)).toBe(false);
    }
  });

  test("exits with 2 for a wrong command line or a state file without a checkpoint", async () => {
    const bad = await file("bad.json", "no checkpoint");
    log.show(all);
    for (const parameters of [
      ["audit", "watch", log.url],
      ["audit", "watch", "ftp://x", "--state", "s"],
      ["audit", "watch", log.url, "--state", bad, "--once"],
      ["audit", "watch", log.url, "--state", "s", "--interval", "0"],
      ["audit", "watch", log.url, "--state", "s", "--once", "--keys", bad],
    ]) {
      expect((await cli(parameters)).exitCode).toBe(2);
    }
  });
});
