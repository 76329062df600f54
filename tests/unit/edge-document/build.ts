import { buildRouteTable, validateDocument } from "@ostiary/lib/domain/routes";
import { DocumentBuild } from "@ostiary/registry/edge-document";
import { ServiceDocument } from "@ostiary/registry/service-document";
import type { OpenApiDocument } from "../../support/openapi.ts";

/** The document of the edge for a configuration document, with documents of some of its services. */
export function edgeDocument(
  services: Record<string, unknown>,
  documents: Record<string, unknown> = {},
  server_url?: string,
): OpenApiDocument {
  const valid = validateDocument({ services });
  if (!valid.ok) throw new Error(Bun.inspect(valid.fields));
  const build = new DocumentBuild({
    title: "API",
    server_url,
    table: buildRouteTable(valid.services),
    services: valid.services,
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
