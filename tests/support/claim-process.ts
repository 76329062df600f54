/**
 * Run as a process: `bun claim-process.ts DIRECTORY AT_MS` claims a database's directory at that moment of the
 * clock, says so or why not, and holds it until it is killed.
 */
import { claimFor, openDirectory } from "@ostiary/lib/runtime/stores/database";

const [, , directory = "", at_ms = "0"] = process.argv;
// all at one instant, which timers would miss by milliseconds
while (Date.now() < Number(at_ms));
try {
  const giveUp = await claimFor(await openDirectory(directory));
  process.stdout.write("claimed\n");
  await Bun.sleep(60_000);
  await giveUp();
} catch (error) {
  process.stdout.write(`${error}\n`);
}
