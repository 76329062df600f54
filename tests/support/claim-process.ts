/**
 * A process, started by `bun claim-process.ts FOLDER AT_MS`. It claims a database's folder at that moment,
 * prints the result, and holds the folder until it is killed.
 */
import { claimFolder } from "@ostiary/lib/runtime/stores/database";

const TIMER_MS = 20;

const [, , folder = "", at_ms = "0"] = process.argv;
// All processes claim at the same instant. A timer would miss it by milliseconds, so the last ones pass without one.
await Bun.sleep(Math.max(0, Number(at_ms) - Date.now() - TIMER_MS));
while (Date.now() < Number(at_ms));
try {
  const giveUp = await claimFolder(folder);
  process.stdout.write("claimed\n");
  await Bun.sleep(60_000);
  await giveUp();
} catch (error) {
  process.stdout.write(`${error}\n`);
}
