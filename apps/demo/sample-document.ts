const echoed = { $ref: "#/components/schemas/Echo" };
const param = (name: string, description: string) => ({
  name,
  in: "path",
  required: true,
  description,
  schema: { type: "string" },
  example: "42",
});
const ids = {
  user_id: param("user_id", "The owner: a person."),
  organization_id: param("organization_id", "The owner: an organization."),
  member_id: param("member_id", "The owner: a member."),
};
const anyBody = {
  description: "Any content. The service counts its bytes and keeps nothing.",
  content: {
    "application/octet-stream": { schema: { type: "string", format: "binary" }, example: "paint it black" },
  },
};
const echo = {
  "200": {
    description: "The request as the service received it.",
    content: { "application/json": { schema: echoed } },
  },
};

const operation = (operationId: string, summary: string, more: object = {}) => ({
  operationId,
  summary,
  tags: ["Demo"],
  responses: echo,
  ...more,
});

/** The sample service's OpenAPI description. Its paths contain the owner ids that the gateway writes. */
export const SAMPLE_DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Sample service", version: "1", description: "Echoes each request." },
  tags: [{ name: "Demo", description: "A service that echoes each request." }],
  paths: {
    "/hello": { get: operation("sayHello", "Say hello to nobody in particular") },
    "/users/{user_id}/notes/{note_id}": {
      parameters: [ids.user_id, param("note_id", "The note.")],
      get: operation("getNote", "Read a note"),
      put: operation("putNote", "Write a note", { requestBody: anyBody }),
    },
    "/organizations/{organization_id}/things/{thing_id}": {
      parameters: [ids.organization_id, param("thing_id", "The thing.")],
      get: operation("getThing", "Read a thing", {
        parameters: [
          { name: "color", in: "query", description: "Has no effect.", schema: { type: "string" } },
        ],
      }),
      put: operation("putThing", "Write a thing", { requestBody: anyBody }),
      delete: operation("deleteThing", "Delete a thing"),
    },
    "/organizations/{organization_id}/burst": {
      parameters: [ids.organization_id],
      get: operation("burst", "Call as often as the limit lets you"),
    },
    "/organizations/{organization_id}/events": {
      parameters: [ids.organization_id],
      get: operation("streamEvents", "Receive five events, one by one", {
        responses: {
          "200": {
            description: "Server-sent events.",
            content: { "text/event-stream": { schema: { type: "string" } } },
          },
        },
      }),
    },
    "/organizations/{organization_id}/members/{member_id}/drafts/{draft_id}": {
      parameters: [ids.organization_id, ids.member_id, param("draft_id", "The draft.")],
      get: operation("getDraft", "Read a draft"),
      put: operation("putDraft", "Write a draft", { requestBody: anyBody }),
      delete: operation("deleteDraft", "Delete a draft"),
    },
  },
  components: {
    schemas: {
      Echo: {
        type: "object",
        description: "A request as the service saw it.",
        required: ["method", "path", "headers", "body_bytes"],
        properties: {
          method: { type: "string", description: "The method of the request.", examples: ["GET"] },
          path: {
            type: "string",
            description: "The path and query of the request, with the owner's ids that the gateway wrote.",
            examples: ["/organizations/01KA4YB0Q9X3M5N7P8R2S6T1VW/things/42"],
          },
          headers: {
            type: "object",
            description: "The headers of the request, without credentials.",
            additionalProperties: { type: "string" },
          },
          body_bytes: {
            type: "integer",
            minimum: 0,
            description: "The size of the request body.",
            examples: [0],
          },
        },
      },
    },
  },
};
