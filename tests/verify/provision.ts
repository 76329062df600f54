/**
 * Prepares a new clone for `bun test`. Installs the dependencies and, as root on Debian, the missing
 * programs. On other machines, prints which programs are missing and how to install them. The tests then use
 * Docker or the embedded stores and print what they do not test. This file runs before the installation, so
 * it imports no packages.
 */
import { existsSync } from "node:fs";
import { chmod, rm, writeFile } from "node:fs/promises";
import { ROOT } from "../support/root.ts";
import { postgresBin } from "../support/stores/stores-under-test.ts";

interface Tool {
  name: string;
  whatFor: string;
  debian: string;
  brew: string;
  present: () => boolean;
}

const onPath = (program: string) => Bun.which(program) !== null;

/** A program is present if one of `programs` is installed. `debian` and `brew` are the names of its packages. */
const tool = (name: string, whatFor: string, debian: string, brew: string, ...programs: string[]): Tool => ({
  name,
  whatFor,
  debian,
  brew,
  present: () => programs.some(onPath),
});
const CHROMIUM = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

const tools: Tool[] = [
  {
    ...tool("PostgreSQL", "the database tests", "postgresql", "postgresql"),
    present: () => postgresBin() !== undefined,
  },
  tool("PgBouncer", "the tests of poolers", "pgbouncer", "pgbouncer", "pgbouncer", "/usr/sbin/pgbouncer"),
  tool("Redis", "the counter store tests", "redis-server", "redis", "redis-server"),
  tool("etcd", "the route store tests", "etcd-server", "etcd", "etcd"),
  tool("Chromium", "the tests of pages", "chromium-headless-shell", "--cask chromium", ...CHROMIUM),
  tool("zsh", "the tour in the shell of macOS", "zsh", "zsh", "zsh"),
  tool("OpenSSL", "the certificates of the TLS tests", "openssl", "openssl", "openssl"),
  {
    ...tool("Prometheus", "the queries of dashboards and alerts", "prometheus", "prometheus"),
    present: () => onPath("prometheus") && onPath("promtool"),
  },
  tool("jq", "the queries over the log", "jq", "jq", "jq"),
  tool("wrk", "the benchmark", "wrk", "wrk", "wrk"),
];

async function provision(): Promise<void> {
  say("installing dependencies");
  await run([process.execPath, "install", "--frozen-lockfile"], ROOT);
  const missing = tools.filter((tool) => !tool.present());
  if (missing.length === 0) return;
  if (canInstall()) await install(missing);
  const absent = missing.filter((tool) => !tool.present());
  for (const tool of absent) {
    say(
      `${tool.name}, which ${tool.whatFor} need, is missing. Install it with: apt-get install ${tool.debian}, or brew install ${tool.brew}`,
    );
  }
  if (absent.length > 0) {
    say(
      `Docker or an embedded store replaces missing servers. Tests that need another missing program are skipped.`,
    );
  }
}

function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync("/etc/debian_version") && onPath("apt-get");
}

const POLICY = "/usr/sbin/policy-rc.d";

/**
 * Installs the missing packages. The file POLICY prevents Debian from starting the installed servers, because
 * the tests start their own.
 */
async function install(missing: Tool[]): Promise<void> {
  const packages = missing.map((tool) => tool.debian);
  const policyIsOurs = !existsSync(POLICY);
  if (policyIsOurs) {
    await writeFile(POLICY, "#!/bin/sh\nexit 101\n");
    await chmod(POLICY, 0o755);
  }
  try {
    say("reading Debian's package lists");
    await apt("update");
    for (const name of packages) {
      say(`installing ${name}`);
      await apt("install", "-y", "--no-install-recommends", name);
    }
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
  } finally {
    if (policyIsOurs) await rm(POLICY, { force: true });
  }
}

function apt(...parameters: string[]): Promise<void> {
  return run(["apt-get", "-q", "-o", "DPkg::Lock::Timeout=120", ...parameters], "/", {
    DEBIAN_FRONTEND: "noninteractive",
  });
}

/** Runs a command. Throws the output of the command if the command fails. */
async function run(command: string[], cwd: string, env: Record<string, string> = {}): Promise<void> {
  const running = Bun.spawn(command, {
    cwd,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(running.stdout).text(),
    new Response(running.stderr).text(),
    running.exited,
  ]);
  if (code !== 0) throw new Error(`${command.join(" ")} exited with code ${code}:\n${stdout}${stderr}`);
}

function say(line: string): void {
  process.stderr.write(`provision: ${line}\n`);
}

await provision();
