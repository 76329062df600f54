import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations({
  getEdgeDocument: [
    "Get the edge description",
    "OpenAPI 3.1 of everything that clients of the gateway may call, built from the current routes and the descriptions of services. The response is 304 if `If-None-Match` names the current version.",
  ],
  listServiceDocuments: [
    "List the descriptions of services",
    "The result of this replica's last read of each service's OpenAPI description.",
  ],
});
