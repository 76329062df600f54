import { join } from "node:path";
import { type StoredServiceConfig, validateDocument } from "@ostiary/lib/domain/routes";
import { parse } from "yaml";

const SEEDS = join(import.meta.dir, "../../seeds");

export const seed = (name: string) => Bun.file(join(SEEDS, name)).text();

/** Returns a service of a catalog in `seeds/`, as the registry would store it. */
export async function seededService(file: string, name: string): Promise<StoredServiceConfig> {
  const result = validateDocument(parse(await seed(file)));
  const service = result.ok ? result.services.get(name) : undefined;
  if (service === undefined) throw new Error(`${name} is refused: ${JSON.stringify(result)}`);
  return service;
}

/** Returns the routes of a service as the gateway would serve them. */
export function routesOf(service: StoredServiceConfig) {
  return (["public", "user", "organization", "member"] as const).flatMap((scope) =>
    (service[scope]?.routes ?? []).flatMap(({ path, methods, upstream = path, required_labels = [] }) =>
      methods.map((method) => ({ scope, method, path, upstream, labels: required_labels })),
    ),
  );
}

/** Returns each route as one line with its labels, and its path at the service as the service describes it. */
export function describedRoutes(service: StoredServiceConfig): string[] {
  return routesOf(service).map(({ scope, method, path, upstream, labels }) =>
    [scope, method, path, upstream.replace(/\{(?:subject|path)\.(\w+)\}/g, "{$1}"), ...labels].join(" "),
  );
}
