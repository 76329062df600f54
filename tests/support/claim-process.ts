/**
 * Run as a process: `bun claim-process.ts FOLDER AT_MS` claims a database's folder at that moment of the
 * clock, says so or why not, and holds it until it is killed.
 */
import { claimFolder } from "@ostiary/lib/runtime/stores/database";

const [, , folder = "", at_ms = "0"] = process.argv;
// all at one instant, which timers would miss by milliseconds
while (Date.now() < Number(at_ms));
try {
  const giveUp = await claimFolder(folder);
  process.stdout.write("claimed\n");
  await Bun.sleep(60_000);
  await giveUp();
} catch (error) {
  process.stdout.write(`${error}\n`);
}
