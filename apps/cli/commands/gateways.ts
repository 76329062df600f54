import { type Gateway, Gateways } from "@ostiary/lib/contracts/registry-api";
import type { Command } from "commander";
import { pathTo } from "../registry-client.ts";
import { onOneLine } from "../terminal.ts";
import type { Run } from "./command.ts";

/** Adds `gateways`, which lists the running gateways and the state of each. */
export function addGateways(program: Command, run: Run): void {
  program
    .command("gateways")
    .description("List the running gateways, and whether each serves everything that is published")
    .addHelpText("after", "\nExample:\n  $ bun cli gateways")
    .action(() =>
      run(async ({ registry, output }) => {
        const gateways = await listAll((path) => registry.ask(Gateways, path));
        output.result({ gateways }, () => {
          output.table(
            ["gateway", "current", "services", "routes", "skipped", "started", "loaded"],
            gateways.map(rowOf),
            "No gateway is running.",
          );
          for (const { instance, skipped } of gateways) {
            for (const { service, reason } of skipped) {
              output.line(onOneLine(`${instance} leaves out ${service}: ${reason}`));
            }
          }
        });
      }),
    );
}

/** Returns the gateways of all pages. */
async function listAll(ask: (path: string) => Promise<Gateways>): Promise<Gateway[]> {
  const all: Gateway[] = [];
  for (;;) {
    const last = all.at(-1)?.instance;
    const page = last === undefined ? "" : `?starting_after=${last}`;
    const { gateways, has_more } = await ask(`${pathTo("gateways")}${page}`);
    all.push(...gateways);
    if (has_more !== true || gateways.length === 0) return all;
  }
}

function rowOf(gateway: Gateway): string[] {
  const { instance, current, services, routes, skipped, started_at, loaded_at } = gateway;
  const counts = [services, routes, skipped.length].map(String);
  return [instance, current ? "yes" : "no", ...counts, started_at, loaded_at];
}
