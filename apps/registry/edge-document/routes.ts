import { ServiceName } from "@ostiary/lib/domain/routes";
import { nullable, timeField } from "@ostiary/lib/domain/schemas";
import { answerWith, documentPage, noQuery, REVALIDATE } from "@ostiary/lib/runtime/http";
import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { errors } from "../errors.ts";
import type { EdgeDocument } from "./edge-document.ts";
import type { DocumentState, ServiceDocuments } from "./service-documents.ts";

/** The page of the document; below it stand the document and the page's assets. */
export const EDGE_PAGE = "/edge";
export const EDGE_DOCUMENT = "/edge/openapi.json";

const ServiceDocumentState = Type.Object(
  {
    service: ServiceName,
    path: Type.String({
      description: "As the service's configuration says it.",
      examples: ["/openapi.json"],
    }),
    status: Type.Union([Type.Literal("current"), Type.Literal("stale"), Type.Literal("missing")], {
      description:
        "`stale`: it can not be read, and the last good one stands for it. `missing`: none was read yet.",
    }),
    read_at: nullable(timeField("When it was read last; null: never.")),
    failed_at: nullable(timeField("When the latest try failed; null: it did not.")),
    reason: nullable(
      Type.String({
        description: "Why it failed; null: it did not.",
        examples: ["The service answered 404."],
      }),
    ),
  },
  { title: "ServiceDocumentState", description: "How the OpenAPI document of a service was last read." },
);

const ServiceDocumentStates = Type.Object(
  {
    documents: Type.Array(ServiceDocumentState, {
      description: "One for each service that names a document.",
    }),
  },
  { title: "ServiceDocumentStates", description: "How the OpenAPI documents of services were last read." },
);

export interface EdgeRoutesDeps {
  readonly edge: EdgeDocument;
  readonly documents: ServiceDocuments;
  readonly title: string;
  readonly page_enabled: boolean;
}

/** The document of what clients of the gateway may call, and its page (contract 3, Beyond the specification). */
export function edgeRoutes({ edge, documents, title, page_enabled }: EdgeRoutesDeps) {
  const app = new Elysia({ name: "edge", normalize: false });
  if (page_enabled) app.use(documentPage({ path: EDGE_PAGE, document_path: EDGE_DOCUMENT, title }));
  return app
    .guard({ query: noQuery, detail: { tags: ["Edge"] } })
    .get(EDGE_DOCUMENT, async ({ request }) => answerWith(request, await edge.read(), REVALIDATE), {
      response: { 200: documentAnswer, ...errors() },
      detail: {
        operationId: "getEdgeDocument",
        summary: "Get the OpenAPI document of the edge",
        description:
          "OpenAPI 3.1 of what clients of the gateway may call, made from the current routes and from the documents of services that name one. Answers 304 to an `If-None-Match` that still holds.",
      },
    })
    .get("/edge/documents", () => ({ documents: [...documents.states.values()].map(show) }), {
      response: { 200: ServiceDocumentStates, ...errors() },
      detail: {
        operationId: "listServiceDocuments",
        summary: "List the documents of services",
        description: "How the OpenAPI document of each service that names one was last read by this replica.",
      },
    });
}

const documentAnswer = Type.Object(
  { openapi: Type.String({ description: "The version of OpenAPI.", examples: ["3.1.0"] }) },
  {
    additionalProperties: true,
    title: "EdgeDocument",
    description: "An OpenAPI 3.1 document.",
    response_headers: {
      ETag: Type.String({ description: "Of this document, for If-None-Match.", examples: ['"0xE0nQ"'] }),
    },
  },
);

function show({
  service,
  path,
  status,
  read_at,
  failure,
}: DocumentState): Static<typeof ServiceDocumentState> {
  return { service, path, status, read_at, failed_at: failure?.at ?? null, reason: failure?.reason ?? null };
}
