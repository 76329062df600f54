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
  elsewhere: string;
  present: () => boolean;
}

const onPath = (...names: string[]) => names.some((name) => Bun.which(name) !== null);

const tools: Tool[] = [
  {
    name: "PostgreSQL",
    whatFor: "the database tests",
    debian: "postgresql",
    elsewhere: "brew install postgresql",
    present: () => postgresBin() !== undefined,
  },
  {
    name: "PgBouncer",
    whatFor: "the tests of poolers",
    debian: "pgbouncer",
    elsewhere: "brew install pgbouncer",
    present: () => onPath("pgbouncer") || existsSync("/usr/sbin/pgbouncer"),
  },
  {
    name: "Redis",
    whatFor: "the counter store tests",
    debian: "redis-server",
    elsewhere: "brew install redis",
    present: () => onPath("redis-server"),
  },
  {
    name: "etcd",
    whatFor: "the route store tests",
    debian: "etcd-server",
    elsewhere: "brew install etcd",
    present: () => onPath("etcd"),
  },
  {
    name: "Chromium",
    whatFor: "the tests of pages",
    debian: "chromium-headless-shell",
    elsewhere: "brew install --cask chromium",
    present: () => onPath("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"),
  },
  {
    name: "zsh",
    whatFor: "the tour in the shell of macOS",
    debian: "zsh",
    elsewhere: "brew install zsh",
    present: () => onPath("zsh"),
  },
  {
    name: "OpenSSL",
    whatFor: "the certificates of the TLS tests",
    debian: "openssl",
    elsewhere: "brew install openssl",
    present: () => onPath("openssl"),
  },
  {
    name: "Prometheus",
    whatFor: "the queries of dashboards and alerts",
    debian: "prometheus",
    elsewhere: "brew install prometheus",
    present: () => onPath("prometheus") && onPath("promtool"),
  },
  {
    name: "jq",
    whatFor: "the queries over the log",
    debian: "jq",
    elsewhere: "brew install jq",
    present: () => onPath("jq"),
  },
  {
    name: "wrk",
    whatFor: "the benchmark",
    debian: "wrk",
    elsewhere: "brew install wrk",
    present: () => onPath("wrk"),
  },
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
      `${tool.name}, which ${tool.whatFor} need, is missing. Install it with: apt-get install ${tool.debian}, or ${tool.elsewhere}`,
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
