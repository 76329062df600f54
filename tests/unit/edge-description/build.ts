import type { RouteTable } from "@ostiary/lib/domain/routes";
import { edgeDescription, ServiceDescription } from "@ostiary/lib/edge-description";
import { buildRouteTable } from "../../support/gateway/route-tables.ts";
import type { OpenApiDocument } from "../../support/http/openapi.ts";
import { storedServices } from "../routes/fixtures.ts";

/** Returns the route table of the services of a valid configuration document. */
export function tableOf(services: Record<string, unknown>): RouteTable {
  return buildRouteTable(storedServices(services));
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
    table: tableOf(services),
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
