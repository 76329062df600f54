import type { Gateway } from "@ostiary/lib/contracts/registry-api";
import type { Command } from "commander";
import type { Run } from "./command.ts";

/** Adds `gateways`, which lists the running gateways and the state of each. */
export function addGateways(program: Command, run: Run): void {
  program
    .command("gateways")
    .description("List the running gateways, and whether each serves everything that is published")
    .addHelpText("after", `\nExample:\n  $ ${program.name()} gateways`)
    .action(() =>
      run(async ({ registry, output }) => {
        const gateways = await registry.gateways();
        output.result({ gateways }, () => {
          output.table(
            ["gateway", "current", "services", "routes", "skipped", "started", "loaded"],
            gateways.map(rowOf),
            "No gateway is running.",
          );
          for (const { instance, skipped } of gateways) {
            for (const { service, reason } of skipped) {
              output.line(`${instance} skips ${service}: ${reason}`);
            }
          }
        });
      }),
    );
}

function rowOf(gateway: Gateway): string[] {
  const { instance, current, services, routes, skipped, started_at, loaded_at } = gateway;
  const counts = [services, routes, skipped.length].map(String);
  return [instance, current ? "yes" : "no", ...counts, started_at, loaded_at];
}
