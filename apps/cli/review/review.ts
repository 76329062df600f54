import { EFFECTS, type Effect, type MarkedChange } from "@ostiary/lib/domain/routes";
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
