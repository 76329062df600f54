import { type Gateway, Gateways } from "@ostiary/lib/contracts/registry-api";
import type { Command } from "commander";
import { pathTo } from "../registry-client.ts";
import type { Run } from "./command.ts";

/** `gateways`: who serves what was published. */
export function addGateways(program: Command, run: Run): void {
  program
    .command("gateways")
    .description("List the gateways that run, and whether each serves all that is published")
    .addHelpText("after", "\nExample:\n  $ bun cli gateways")
    .action(() =>
      run(async ({ registry, output }) => {
        const answer = await registry.ask(Gateways, pathTo("gateways"));
        output.result(answer, ({ gateways }) => {
          output.table(
            ["gateway", "current", "services", "routes", "skipped", "started", "loaded"],
            gateways.map(rowOf),
            "No gateway runs.",
          );
          for (const { instance, skipped } of gateways) {
            for (const { service, reason } of skipped) {
              output.line(`${instance} leaves out ${service}: ${reason}`);
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
