import { ServiceName } from "@ostiary/lib/domain/routes";
import { mostlyNull, nullable, timeField } from "@ostiary/lib/domain/schemas";
import { describeOperations } from "@ostiary/lib/openapi";
import { answerWith, descriptionPage, noQuery, REVALIDATE } from "@ostiary/lib/runtime/http";
import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { operatorErrors } from "../documented-errors.ts";
import type { EdgeDescription } from "./edge-description.ts";
import type { DescriptionState, ServiceDescriptions } from "./service-descriptions.ts";

const operations = describeOperations({
  getEdgeDocument: [
    "Get the edge description",
    "OpenAPI 3.1 of everything that clients of the gateway may call, built from the current routes and the descriptions of services. The response is 304 if `If-None-Match` names the current version.",
  ],
  listServiceDocuments: [
    "List the descriptions of services",
    "The result of this replica's last read of each service's OpenAPI description.",
  ],
});

/**
 * The page that shows the edge description. The description and the page's assets have paths below this one.
 */
export const EDGE_PAGE = "/edge";
export const EDGE_DESCRIPTION = "/edge/openapi.json";

const ServiceDescriptionState = Type.Object(
  {
    service: ServiceName,
    path: Type.String({
      description: "The path of the description, from the service's configuration.",
      examples: ["/openapi.json"],
    }),
    status: Type.Union([Type.Literal("current"), Type.Literal("stale"), Type.Literal("missing")], {
      description:
        "`stale`: the description cannot be read, and the last good one is used. `missing`: no description was read yet.",
    }),
    read_at: nullable(
      timeField("The time when the description was last read, or null if it was never read."),
    ),
    failed_at: mostlyNull(
      timeField("The time when the latest attempt failed, or null if the attempt succeeded."),
    ),
    reason: mostlyNull(
      Type.String({
        description: "The reason why the latest attempt failed, or null if the attempt succeeded.",
        examples: ["The service answered 404."],
      }),
    ),
  },
  { title: "ServiceDocumentState", description: "The state of a service's OpenAPI description." },
);

const ServiceDescriptionStates = Type.Object(
  {
    documents: Type.Array(ServiceDescriptionState, {
      description: "One entry for each service that names a description.",
    }),
  },
  { title: "ServiceDocumentStateList", description: "The states of the OpenAPI descriptions of services." },
);

interface EdgeRoutesDeps {
  readonly edge: EdgeDescription;
  readonly descriptions: ServiceDescriptions;
  readonly title: string;
  readonly pageEnabled: boolean;
}

/** Serves the edge description and its page (RG-92, RG-98). */
export function edgeHandlers({ edge, descriptions, title, pageEnabled }: EdgeRoutesDeps) {
  const app = new Elysia({ name: "edge", normalize: false, tags: ["Edge"] });
  if (pageEnabled) app.use(descriptionPage({ path: EDGE_PAGE, descriptionPath: EDGE_DESCRIPTION, title }));
  return app
    .guard({ query: noQuery })
    .get(EDGE_DESCRIPTION, async ({ request }) => answerWith(request, await edge.read(), REVALIDATE), {
      response: { 200: descriptionAnswer, ...operatorErrors() },
      detail: operations.getEdgeDocument,
    })
    .get("/edge/documents", () => ({ documents: [...descriptions.states.values()].map(show) }), {
      response: { 200: ServiceDescriptionStates, ...operatorErrors() },
      detail: operations.listServiceDocuments,
    });
}

const descriptionAnswer = Type.Object(
  { openapi: Type.String({ description: "The version of OpenAPI.", examples: ["3.1.0"] }) },
  {
    additionalProperties: true,
    title: "EdgeDocument",
    description: "An OpenAPI 3.1 document.",
    response_headers: {
      ETag: Type.String({
        description: "The version of this description, for If-None-Match.",
        examples: ['"0xE0nQ"'],
      }),
    },
  },
);

function show({
  service,
  path,
  status,
  read_at,
  failure,
}: DescriptionState): Static<typeof ServiceDescriptionState> {
  return { service, path, status, read_at, failed_at: failure?.at ?? null, reason: failure?.reason ?? null };
}
