import {
  buildRouteTable,
  type RouteTable,
  type StoredServiceConfig,
  validateDocument,
} from "@ostiary/lib/domain/routes";
import { DocumentBuild } from "@ostiary/registry/edge-document";
import { ServiceDocument } from "@ostiary/registry/service-document";
import type { OpenApiDocument } from "../../support/openapi.ts";

/** The valid services of a configuration document, and their table. */
export function tableOf(services: Record<string, unknown>): {
  services: ReadonlyMap<string, StoredServiceConfig>;
  table: RouteTable;
} {
  const valid = validateDocument({ services });
  if (!valid.ok) throw new Error(Bun.inspect(valid.fields));
  return { services: valid.services, table: buildRouteTable(valid.services) };
}

/** The document of the edge for a configuration document, with documents of some of its services. */
export function edgeDocument(
  services: Record<string, unknown>,
  documents: Record<string, unknown> = {},
  server_url?: string,
): OpenApiDocument {
  const build = new DocumentBuild({
    title: "API",
    server_url,
    ...tableOf(services),
    documents: new Map(
      Object.entries(documents).map(([service, value]) => [
        service,
        { status: "current", document: new ServiceDocument(value), read_at: null },
      ]),
    ),
  });
  for (const _ of build.steps());
  const { body } = build.representation;
  if (!(body instanceof Uint8Array)) throw new Error("The document is bytes.");
  return JSON.parse(new TextDecoder().decode(body));
}
