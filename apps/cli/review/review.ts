import { type Plan, Revision } from "@ostiary/lib/contracts/registry-api";
import {
  type Change,
  countEffects,
  EFFECTS,
  type Effect,
  type MarkedChange,
  markChanges,
  namesPolicies,
} from "@ostiary/lib/domain/routes";
import { InvalidArgumentError } from "commander";
import { pathTo, type RegistryClient } from "../registry-client.ts";

/** What is to be looked at before it is applied, or was applied. */
export interface Review {
  services: ServiceReview[];
  /** How many changes open something, and how many break callers. */
  counts: Record<Effect, number>;
}

export interface ServiceReview {
  service: string;
  /** What becomes of the service, in the words that follow its name. */
  state: string;
  changes: MarkedChange[];
}

/** `opens`, `breaks`, or both with a comma between them. */
export function effectsArgument(text: string): Effect[] {
  const named = text.split(",");
  const known = EFFECTS.filter((effect) => named.includes(effect));
  if (known.length !== named.length) throw new InvalidArgumentError("It is opens, breaks, or opens,breaks.");
  return known;
}

/** A plan with its marks, as `--json` shows it. */
export async function markPlan(registry: RegistryClient, { results: planned }: Plan) {
  const results: (Omit<Plan["results"][number], "changes"> & { changes: MarkedChange[] })[] = [];
  for (const result of planned) {
    const changes = await markedChanges(registry, result.service, result.revision, result.changes);
    results.push({ ...result, changes });
  }
  return { results, ...countEffects(results.flatMap(({ changes }) => changes)) };
}

/** What changed since revision `from`, with its marks, as `--json` shows it. */
export async function markDiff(registry: RegistryClient, service: string, from: number, changes: Change[]) {
  const marked = await markedChanges(registry, service, from, changes);
  return { changes: marked, ...countEffects(marked) };
}

async function markedChanges(
  registry: RegistryClient,
  service: string,
  revision: number | null,
  changes: Change[],
): Promise<MarkedChange[]> {
  if (revision === null || !namesPolicies(changes)) return markChanges(changes);
  // by its number: whatever was written since, this is the one that was compared
  const { config } = await registry.ask(Revision, pathTo("services", service, "revisions", revision));
  return markChanges(changes, config?.rate_limits);
}
