import { descriptionPage, noQuery, REVALIDATE, respondWith } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { operatorErrors } from "../documented-errors.ts";
import type { EdgeDescription } from "./edge-description.ts";

/**
 * The page that shows the edge description. The description and the page's assets have paths below this one.
 */
export const EDGE_PAGE = "/edge";
export const EDGE_DESCRIPTION = "/edge/openapi.json";

interface EdgeRoutesDeps {
  readonly edge: EdgeDescription;
  readonly title: string;
  readonly pageEnabled: boolean;
}

/** Serves the edge description and its page (RG-92, RG-98). */
export function edgeHandlers({ edge, title, pageEnabled }: EdgeRoutesDeps) {
  const app = new Elysia({ name: "edge", normalize: false, tags: ["Edge"] });
  if (pageEnabled) app.use(descriptionPage({ path: EDGE_PAGE, descriptionPath: EDGE_DESCRIPTION, title }));
  return app
    .guard({ query: noQuery })
    .get(EDGE_DESCRIPTION, async ({ request }) => respondWith(request, await edge.read(), REVALIDATE), {
      response: { 200: descriptionResponse, ...operatorErrors() },
      detail: {
        operationId: "getEdgeDocument",
        summary: "Get the edge description",
        description:
          "OpenAPI 3.1 of everything that clients of the gateway may call, built from the current routes and the descriptions of services. The response is 304 if `If-None-Match` names the current version.",
      },
    });
}

const descriptionResponse = Type.Object(
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
