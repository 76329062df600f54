/**
 * Follows witnesses.md: litewitness, another project's witness, cosigns the audit log. The test is skipped if Go
 * cannot build litewitness.
 */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  cosigned,
  type Entry,
  newLog,
  ORIGIN,
  SOON,
  startWitnessed,
  WITNESS,
  write,
} from "../../../app/audit/witnesses-bed.ts";
import { atTestEnd } from "../../../support/at-test-end.ts";
import { commandsOf } from "../../../support/documents/documents.ts";
import { moved, Reader, readUntil } from "../../../support/documents/guide-reader.ts";
import { freePort } from "../../../support/http/free-port.ts";
import { waitFor } from "../../../support/index.ts";
import { metricOf } from "../../../support/telemetry/metrics.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const GUIDE = ".github/guides/witnesses.md";
const GUIDES_KEY = "audit.example.com/log+b1cea59d+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea";
/** The hash of an empty tree, with which `witnessctl add-log` begins. */
const EMPTY_ROOT = new Bun.CryptoHasher("sha256").digest("base64");

const bin = temporaryFolder("go-bin");
const env = { PATH: `${bin}:${process.env.PATH}` };
const installs = (await commandsOf(GUIDE, "1. Install it")).join("").trim().split("\n");
/** Go reports modules that it cannot fetch. One command fails without the other. */
const [hasWitness, hasControl] = await Promise.all(installs.map(isInstalled));
const reason = hasWitness ? "" : " (skipped: go is not installed, or cannot build litewitness)";

async function isInstalled(command: string): Promise<boolean> {
  if (Bun.which("go") === null || Bun.which("ssh-agent") === null) return false;
  const options = { stdout: "ignore", stderr: "ignore", timeout: 180_000 } as const;
  const child = Bun.spawn(["sh", "-c", command], { ...options, env: { ...process.env, GOBIN: bin } });
  return (await child.exited) === 0;
}

/** Follows the guide for a log with this verifier key. Returns the witness. */
async function runWitness(verifierKey: string): Promise<Entry> {
  const reader = await Reader.open(env);
  const port = String(freePort());
  const places = { [GUIDES_KEY]: verifierKey, "127.0.0.1:7380": `127.0.0.1:${port}` };
  const [naming = ""] = await commandsOf(GUIDE, "2. Name the log");
  const [starting = ""] = await commandsOf(GUIDE, "3. Start it");
  await reader.run(moved(hasControl ? naming : withoutControl(naming), places));
  if (!hasControl) addLog(join(reader.directory, "witness/litewitness.db"), verifierKey);
  const child = reader.start(moved(starting, places));
  atTestEnd(() => child.kill());
  const agent = /SSH_AGENT_PID=(\d+)/.exec(await readUntil(child.stdout, "SSH_AGENT_PID"))?.[1];
  atTestEnd(() => void process.kill(Number(agent)));
  const log = await readUntil(child.stderr, "listening");
  return { name: "w1", url: `http://127.0.0.1:${port}`, key: /vkey=(\S+)/.exec(log)?.[1] ?? log };
}

function withoutControl(commands: string): string {
  return commands.split("witnessctl")[0] ?? "";
}

/** Does what `witnessctl` does, on machines where Go cannot fetch a module that only `witnessctl` needs. */
function addLog(path: string, verifierKey: string): void {
  using database = new Database(path);
  database.run(
    "create table log (origin text primary key, tree_size integer not null, tree_hash text not null)",
  );
  database.run("create table key (origin text not null, key text not null)");
  database.run("insert into log values (?, 0, ?)", [ORIGIN, EMPTY_ROOT]);
  database.run("insert into key values (?, ?)", [ORIGIN, verifierKey]);
}

describe("witnesses.md", () => {
  // AU-171, AU-172, AU-173
  test.skipIf(!hasWitness)(
    `litewitness cosigns a log as it grows, and refuses a second history of the log${reason}`,
    async () => {
      const { keyFile, verifierKey } = newLog();
      const entry = await runWitness(verifierKey);
      expect(entry.key).toStartWith(`${WITNESS}+`);
      const audit = await startWitnessed(keyFile, [entry]);
      for (let size = 1; size <= 3; size++) {
        await write(audit);
        await cosigned(audit, entry, size);
      }
      await audit.stop();
      const rewritten = await startWitnessed(keyFile, [entry]);
      for (let n = 0; n < 2; n++) await write(rewritten);
      await waitFor(async () => (await metricOf(rewritten, "audit_witness_conflicts")) === 1, SOON);
    },
  );
});
