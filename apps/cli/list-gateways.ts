import { type Gateway, Gateways } from "@ostiary/lib/contracts/registry-api";
import { pathTo, type RegistryClient } from "./registry-client.ts";

/** Returns the running gateways, from all pages of the list. */
export async function listGateways(registry: RegistryClient): Promise<Gateway[]> {
  const all: Gateway[] = [];
  for (;;) {
    const last = all.at(-1)?.instance;
    const page = last === undefined ? "" : `?starting_after=${last}`;
    const { gateways, has_more } = await registry.ask(Gateways, `${pathTo("gateways")}${page}`);
    all.push(...gateways);
    if (!has_more) return all;
  }
}
