import {
  type RouteTable,
  RouteTableBuilder,
  type ServiceResult,
  type StoredServiceConfig,
  validateStoredInSteps,
} from "@ostiary/lib/domain/routes";

/** Returns the route table of services, which must be valid. */
export function buildRouteTable(services: Iterable<readonly [string, StoredServiceConfig]>): RouteTable {
  const builder = new RouteTableBuilder();
  for (const [name, config] of services) Array.from(builder.put(name, config));
  return builder.take();
}

/** Validates a stored service without the pauses of `validateStoredInSteps`. */
export function validateStored(name: string, value: unknown): ServiceResult {
  const steps = validateStoredInSteps(name, value);
  for (;;) {
    const { done, value: result } = steps.next();
    if (done) return result;
  }
}
