/**
 * Audits the installed packages with `bun audit`: `bun run audit`. The exit code is 1 if a vulnerability of high or
 * critical severity is known, otherwise 0. If the package registry returns no audit, as some mirrors do not, it says
 * that nothing was audited.
 */
import { ROOT } from "../support/root.ts";

const TIMEOUT_MS = 60_000;

const child = Bun.spawn([process.execPath, "audit", "--audit-level=high"], {
  cwd: ROOT,
  stdin: "ignore",
  stdout: "pipe",
  stderr: "pipe",
  timeout: TIMEOUT_MS,
});
const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
const [, failure] = /^error: (.*)$/m.exec(stderr) ?? [];
if (child.signalCode === null && failure === undefined) {
  process.stdout.write(stdout);
  process.exitCode = child.exitCode === 0 ? 0 : 1;
} else {
  const reason = failure ?? `no response within ${TIMEOUT_MS / 1000} s`;
  process.stdout.write(
    `Dependencies were not audited: the package registry returned no audit (${reason}).\n`,
  );
}
