import { ROOT } from "../support/root.ts";

/** The result of an audit of the installed packages for known vulnerabilities. */
export interface Audit {
  text: string;
  exitCode: number;
}

const TIMEOUT_MS = 60_000;

/**
 * Audits the installed packages with `bun audit`. The exit code is 1 if a vulnerability of high or critical
 * severity is known, otherwise 0. If the package registry returns no audit, as some mirrors do not, the text
 * says that nothing was audited.
 */
export async function audit(env: Record<string, string | undefined>): Promise<Audit> {
  const child = Bun.spawn([process.execPath, "audit", "--audit-level=high"], {
    cwd: ROOT,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: TIMEOUT_MS,
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  const [, failure] = /^error: (.*)$/m.exec(stderr) ?? [];
  if (child.signalCode !== null || failure !== undefined) {
    const reason = failure ?? `no response within ${TIMEOUT_MS / 1000} s`;
    return {
      text: `Dependencies were not audited: the package registry returned no audit (${reason}).\n`,
      exitCode: 0,
    };
  }
  return { text: stdout, exitCode: child.exitCode === 0 ? 0 : 1 };
}

if (import.meta.main) {
  const { text, exitCode } = await audit(process.env);
  process.stdout.write(text);
  process.exitCode = exitCode;
}
