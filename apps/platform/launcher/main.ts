/**
 * The command of the npm package `ostiary`. Runs the executable of this system, which npm has installed as an
 * optional dependency. Downloads nothing.
 */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const system = `${process.platform}-${process.arch}`;

function executable(): string | null {
  try {
    return createRequire(import.meta.url).resolve(`@ostiary/${system}/ostiary`);
  } catch {
    return null;
  }
}

const path = executable();
if (path === null) {
  process.stderr.write(
    `ostiary: the package @ostiary/${system} is not installed. There are packages for linux-x64 and linux-arm64 (glibc), darwin-x64 and darwin-arm64. On these systems, install ostiary again without --omit=optional.\n`,
  );
  process.exit(1);
}
const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// Ctrl-C reaches the executable too. It takes the same signal twice for one (OP-32).
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
child.on("error", ({ message }) => {
  process.stderr.write(`ostiary: ${path} does not start: ${message}\n`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code ?? 1);
  // Ends as the executable did, so that the caller sees the same signal.
  for (const each of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(each);
  process.kill(process.pid, signal);
});
