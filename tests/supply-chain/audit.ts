/** The known vulnerabilities of the installed packages, as the registry answers. */
export interface Audit {
  text: string;
  exit_code: number;
}

const TIMEOUT_MS = 60_000;

/**
 * Fails on a known vulnerability of high or critical severity. A registry that cannot answer, as behind some
 * mirrors, fails nothing and gets one line.
 */
export async function audit(
  env: Record<string, string | undefined>,
  timeout_ms = TIMEOUT_MS,
): Promise<Audit> {
  const child = Bun.spawn([process.execPath, "audit", "--audit-level=high"], {
    cwd: `${import.meta.dir}/../..`,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: timeout_ms,
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  const [, failure] = /^error: (.*)$/m.exec(stderr) ?? [];
  if (child.signalCode !== null || failure !== undefined) {
    const reason = failure ?? `no answer within ${timeout_ms / 1000} s`;
    return {
      text: `Dependencies are not audited: the registry cannot be asked (${reason}).\n`,
      exit_code: 0,
    };
  }
  return { text: stdout, exit_code: child.exitCode === 0 ? 0 : 1 };
}

if (import.meta.main) {
  const { text, exit_code } = await audit(process.env);
  process.stdout.write(text);
  process.exitCode = exit_code;
}
