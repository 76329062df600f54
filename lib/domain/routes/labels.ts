/**
 * Decides which labels let a caller use a route. The gateway enforces the decision and the registry explains
 * it.
 */
import type { CompiledLabels } from "./compile-service.ts";

/** The label that grants all labels. */
export const EVERY_LABEL = "*";

/**
 * Returns whether the holder of `labels` may use a route that requires `required`. One required label or `*`
 * suffices (GW-76, GW-77). Labels constrain members only: `labels` is null for other callers, who pass.
 */
export function labelsSuffice(required: CompiledLabels | null, labels: readonly string[] | null): boolean {
  if (required === null || labels === null) return true;
  for (const label of labels) {
    if (label === EVERY_LABEL || required.set.has(label)) return true;
  }
  return false;
}
