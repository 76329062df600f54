import { REQUEST_ID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import type { SwaggerOptions } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";

/** The head of the registry's OpenAPI document. */
export const swaggerOptions = {
  title: "Ostiary route registry",
  description:
    "The admin API that publishes routes. It checks route configuration, keeps every revision of it, and projects the current one to the store that gateways read.",
  tags: [
    { name: "Apply", description: "Publish a configuration document, or see what it would change." },
    { name: "Services", description: "The services whose routes are published, one at a time." },
    { name: "Revisions", description: "The history of each service, and the way back." },
    { name: "Routes", description: "Find out which route serves a request." },
    { name: "Gateways", description: "The gateways that run, and what each has loaded." },
    { name: "Edge", description: "What clients of the gateway may call, as an OpenAPI document." },
  ],
  bearer_description: "The value of ADMIN_TOKEN.",
  response_headers: {
    "X-Request-ID": Type.String({
      description: "Names this request in the logs.",
      examples: [REQUEST_ID_EXAMPLE],
    }),
  },
} satisfies Omit<SwaggerOptions, "body_bytes_max">;
