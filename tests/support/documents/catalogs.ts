import { join } from "node:path";
import { type StoredServiceConfig, validateDocument } from "@ostiary/lib/domain/routes";
import { parse } from "yaml";
import { ROOT } from "../root.ts";

const SEEDS = join(ROOT, "seeds");

export const seed = (name: string) => Bun.file(join(SEEDS, name)).text();

/** Returns a service from a catalog file in `seeds/`, in the form that the registry stores. */
export async function seededService(file: string, name: string): Promise<StoredServiceConfig> {
  const result = validateDocument(parse(await seed(file)));
  const service = result.ok ? result.services.get(name) : undefined;
  if (service === undefined) throw new Error(`${name} is refused: ${JSON.stringify(result)}`);
  return service;
}

/** Returns the routes of a service, one for each path and method. */
export function routesOf(service: StoredServiceConfig) {
  return (["public", "user", "organization", "member"] as const).flatMap((scope) =>
    (service[scope]?.routes ?? []).flatMap(({ path, methods, upstream = path, required_labels = [] }) =>
      methods.map((method) => ({ scope, method, path, upstream, labels: required_labels })),
    ),
  );
}

/**
 * Returns each route as one line: scope, method, public path, upstream path and labels. The placeholders of
 * the upstream path are spelled as in the service's OpenAPI description, such as `{user_id}`.
 */
export function describedRoutes(service: StoredServiceConfig): string[] {
  return routesOf(service).map(({ scope, method, path, upstream, labels }) =>
    [scope, method, path, upstream.replace(/\{(?:subject|path)\.(\w+)\}/g, "{$1}"), ...labels].join(" "),
  );
}
