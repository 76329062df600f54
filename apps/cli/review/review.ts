import {
  markPreviewed,
  markSince,
  type Preview,
  type RegistryApi,
} from "@ostiary/lib/contracts/registry-api";
import {
  type Change,
  countEffects,
  EFFECTS,
  type Effect,
  type MarkedChange,
} from "@ostiary/lib/domain/routes";
import { InvalidArgumentError } from "commander";

/** The changes that a person reviews, before or after they are applied. */
export interface Review {
  services: ServiceReview[];
  /** The number of changes with each effect. */
  counts: Record<Effect, number>;
}

export interface ServiceReview {
  service: string;
  /** The state of the service, as the end of a sentence that begins with the name of the service. */
  state: string;
  changes: MarkedChange[];
}

/** Parses `opens`, `breaks`, or both with a comma between them. */
export function effectsArgument(text: string): Effect[] {
  const named = text.split(",");
  const known = EFFECTS.filter((effect) => named.includes(effect));
  if (known.length !== named.length) throw new InvalidArgumentError("Use opens, breaks, or opens,breaks.");
  return known;
}

/** Marks the changes of a preview that open a route or break callers. Returns the output for `--json`. */
export async function markPreview(registry: RegistryApi, preview: Preview) {
  const results = await markPreviewed(registry, preview.results);
  return { results, ...countEffects(results.flatMap(({ changes }) => changes)) };
}

/** Marks the changes since revision `from` like {@link markPreview}. */
export async function markDiff(registry: RegistryApi, service: string, from: number, changes: Change[]) {
  const marked = await markSince(registry, service, from, changes);
  return { changes: marked, ...countEffects(marked) };
}
