/**
 * A process that claims a database's directory, started by `bun claim-process.ts DIRECTORY AT_MS`. It claims the
 * directory at the time AT_MS, in milliseconds since 1970. It prints the result, and holds the directory for 60 s
 * or until a test kills the process.
 */
import { claimDirectory } from "@ostiary/lib/runtime/claimed-directory";

const TIMER_MS = 20;

const [, , directory = "", atMs = "0"] = process.argv;
// All processes claim at the same instant. A timer can fire milliseconds late, so the last 20 ms are a busy
// wait.
await Bun.sleep(Math.max(0, Number(atMs) - Date.now() - TIMER_MS));
while (Date.now() < Number(atMs));
try {
  const giveUp = await claimDirectory(directory);
  process.stdout.write("claimed\n");
  await Bun.sleep(60_000);
  await giveUp();
} catch (error) {
  process.stdout.write(`${error}\n`);
}
