/** Shared rate-limit policies over all services (Gateway specification, Validation rule 10). */
import type { FieldError } from "../errors/index.ts";
import type { RateLimitPolicy, StoredServiceConfig } from "./schema.ts";

interface Declaration {
  readonly service: string;
  readonly policy: RateLimitPolicy;
}

interface Declared {
  shared?: Declaration;
  local?: Declaration;
}

/**
 * The policies of `incoming` that disagree with another service, of `incoming` or `current`, on a shared name:
 * other numbers, or shared here and local there. Services of `current` that are incoming too are about to be
 * replaced and do not count.
 *
 * @param pathPrefix what stands in front of `rate_limits` in an error's path, by service
 */
export function findPolicyConflicts(
  incoming: ReadonlyMap<string, StoredServiceConfig>,
  current: Iterable<readonly [string, StoredServiceConfig]>,
  pathPrefix: (service: string) => string = (service) => `services.${service}.`,
): FieldError[] {
  const declared = new Map<string, Declared>();
  for (const [service, config] of current) {
    if (!incoming.has(service)) declare(declared, service, config);
  }
  const fields: FieldError[] = [];
  for (const [service, config] of incoming) {
    for (const [name, policy] of Object.entries(config.rate_limits ?? {})) {
      const message = disagreement(name, policy, declared.get(name) ?? {});
      if (message !== null) fields.push({ path: `${pathPrefix(service)}rate_limits.${name}`, message });
    }
    declare(declared, service, config);
  }
  return fields;
}

/** One declaration of each kind is enough: all earlier ones of a kind agree, or were refused themselves. */
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
  const { requests, window_seconds } = shared.policy;
  if (policy.requests === requests && policy.window_seconds === window_seconds) return null;
  return `The shared policy ${name} is ${requests} requests in ${window_seconds} seconds in service ${shared.service}: use the same numbers, or another name.`;
}

function mixed(name: string, here: string, there: string, service: string): string {
  return `The policy ${name} is ${here} here and ${there} in service ${service}: declare it alike, or choose another name.`;
}
