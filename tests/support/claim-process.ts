/**
 * A process, started by `bun claim-process.ts FOLDER AT_MS`. It claims a database's folder at that moment,
 * prints the result, and holds the folder until it is killed.
 */
import { claimFolder } from "@ostiary/lib/runtime/stores/database";

const [, , folder = "", at_ms = "0"] = process.argv;
// All processes claim at the same instant; timers would miss it by milliseconds.
while (Date.now() < Number(at_ms));
try {
  const giveUp = await claimFolder(folder);
  process.stdout.write("claimed\n");
  await Bun.sleep(60_000);
  await giveUp();
} catch (error) {
  process.stdout.write(`${error}\n`);
}
