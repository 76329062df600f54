/** Checks shared rate-limit policies across all services (RG-32, RG-33). */
import { isSameLimit, writtenLimitText } from "./limit-numbers.ts";
import type { RateLimitPolicy, StoredServiceConfig } from "./service-schema.ts";

interface Declaration {
  readonly service: string;
  readonly policy: RateLimitPolicy;
}

interface Declared {
  shared?: Declaration;
  local?: Declaration;
}

/** A policy that a write declares for `service`, and that conflicts with a policy of another service. */
interface PolicyConflict {
  readonly service: string;
  readonly name: string;
  readonly message: string;
}

/**
 * Returns the policies of `incoming` that conflict with a policy of the same name in another service.
 * `incoming` has the services that are being written. The other service can be in `incoming` or in `current`.
 * Two policies conflict if only one is shared, or if both are shared and their numbers differ. Ignores
 * services of `current` that are also in `incoming`, because the write replaces them.
 */
export function findPolicyConflicts(
  incoming: ReadonlyMap<string, StoredServiceConfig>,
  current: Iterable<readonly [string, StoredServiceConfig]>,
): PolicyConflict[] {
  const declared = new Map<string, Declared>();
  for (const [service, config] of current) {
    if (!incoming.has(service)) declare(declared, service, config);
  }
  const conflicts: PolicyConflict[] = [];
  for (const [service, config] of incoming) {
    for (const [name, policy] of Object.entries(config.rate_limits ?? {})) {
      const message = disagreement(name, policy, declared.get(name) ?? {});
      if (message !== null) conflicts.push({ service, name, message });
    }
    declare(declared, service, config);
  }
  return conflicts;
}

/**
 * Records the first shared and the first local declaration of each policy name. Later declarations do not
 * matter: valid shared declarations are equal, and local declarations never conflict with each other.
 */
function declare(declared: Map<string, Declared>, service: string, config: StoredServiceConfig): void {
  for (const [name, policy] of Object.entries(config.rate_limits ?? {})) {
    const first = declared.get(name) ?? {};
    if (policy.shared === true) first.shared ??= { service, policy };
    else first.local ??= { service, policy };
    declared.set(name, first);
  }
}

function disagreement(name: string, policy: RateLimitPolicy, { shared, local }: Declared): string | null {
  if (policy.shared !== true)
    return shared === undefined ? null : mixed(name, "local", "shared", shared.service);
  if (local !== undefined) return mixed(name, "shared", "local", local.service);
  if (shared === undefined) return null;
  if (isSameLimit(policy, shared.policy)) return null;
  return `The shared policy ${name} is ${writtenLimitText(shared.policy)} in service ${shared.service}: use the same numbers, or another name.`;
}

function mixed(name: string, here: string, there: string, service: string): string {
  return `The policy ${name} is ${here} here and ${there} in service ${service}: declare it the same way, or choose another name.`;
}
