import {
  type RouteTable,
  RouteTableBuilder,
  type ServiceResult,
  type StoredServiceConfig,
  validateStoredInSteps,
} from "@ostiary/lib/domain/routes";

/** Builds the table of valid services. */
export function buildRouteTable(services: Iterable<readonly [string, StoredServiceConfig]>): RouteTable {
  const builder = new RouteTableBuilder();
  for (const [name, config] of services) Array.from(builder.put(name, config));
  return builder.take();
}

/** Checks one stored service, in one call. */
export function validateStored(name: string, value: unknown): ServiceResult {
  const steps = validateStoredInSteps(name, value);
  for (;;) {
    const { done, value: result } = steps.next();
    if (done) return result;
  }
}
