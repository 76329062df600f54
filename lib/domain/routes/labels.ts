/** Which labels let a caller use a route. Asked by the gateway, and by the registry that explains it. */
import type { CompiledLabels } from "./compile.ts";

/** The label that stands for all of them. */
export const EVERY_LABEL = "*";

/**
 * Whether the holder of `labels` may use a route that requires `required`: it needs one of these, or `*` (Gateway
 * specification, Gateway admission). Users and anonymous callers have none (null) and pass: labels constrain
 * members only.
 */
export function labelsSuffice(required: CompiledLabels | null, labels: readonly string[] | null): boolean {
  if (required === null || labels === null) return true;
  for (const label of labels) {
    if (label === EVERY_LABEL || required.set.has(label)) return true;
  }
  return false;
}
