import { progress, runCommand } from "../faults/command.ts";
import { upgradeOf } from "./parameters.ts";
import { runUpgrade } from "./run.ts";

await runCommand(async () => {
  const upgrade = upgradeOf(process.argv.slice(2));
  const broken = await runUpgrade(upgrade, progress);
  const way = [upgrade.from, ...upgrade.legs.map(({ to }) => to)].join(", ");
  console.log(broken.length === 0 ? `${way}: every promise held.` : "Broken promises.");
  return broken;
});
