import { type RouteTable, type StoredServiceConfig, validateDocument } from "@ostiary/lib/domain/routes";
import { edgeDescription, ServiceDescription } from "@ostiary/lib/edge-description";
import { buildRouteTable } from "../../support/gateway/route-tables.ts";
import type { OpenApiDocument } from "../../support/http/openapi.ts";

/** Returns the services of a valid configuration document, and their route table. */
export function tableOf(services: Record<string, unknown>): {
  services: ReadonlyMap<string, StoredServiceConfig>;
  table: RouteTable;
} {
  const valid = validateDocument({ services });
  if (!valid.ok) throw new Error(Bun.inspect(valid.fields));
  return { services: valid.services, table: buildRouteTable(valid.services) };
}

/** Returns the edge description of `services`. `descriptions` has descriptions of some of the services. */
export function edgeDocument(
  services: Record<string, unknown>,
  descriptions: Record<string, unknown> = {},
  serverUrl?: string,
): OpenApiDocument {
  const pieces = edgeDescription({
    title: "API",
    serverUrl,
    ...tableOf(services),
    descriptions: new Map(
      Object.entries(descriptions).map(([service, value]) => [
        service,
        {
          status: "current",
          description: resultOf(ServiceDescription.read(value)),
          bytes: Buffer.byteLength(JSON.stringify(value)),
          read_at: null,
        },
      ]),
    ),
  });
  return JSON.parse([...pieces].join(""));
}

/** Runs a generator to its end, and returns its return value. */
export function resultOf<Result>(steps: Generator<void, Result>): Result {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}
