import { REQUEST_ID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import { ERRORS_INTRODUCTION } from "@ostiary/lib/openapi";
import type { SwaggerOptions } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { forbiddenDetails } from "./documented-errors.ts";

const description = `The admin API that publishes routes. The registry keeps each revision and projects the newest to the gateways' store.

Begin with a dry run of a document (\`POST /apply?dry_run=true\`), which shows the changes; then apply the document. A
200 says that the routes are recorded. With \`wait_ms\`, the operation waits until gateways serve the routes.

Every operation requires an operator's token: the value of \`ADMIN_TOKEN\`, a token that \`OPERATORS_FILE\` lists, or a JWT
of \`OPERATOR_ISSUER\`. A write also requires that the operator may publish each written service and path.
${ERRORS_INTRODUCTION}`;

/** The title, the text and the tags of the registry's OpenAPI description. */
export const swaggerOptions = {
  title: "Ostiary route registry",
  description,
  tags: [
    { name: "Apply", description: "Publish a configuration document, or see what it would change." },
    { name: "Services", description: "Read, publish and delete one service at a time." },
    { name: "Revisions", description: "See the history of each service, and restore an earlier revision." },
    { name: "Routes", description: "Find out which route serves a request." },
    { name: "Changes", description: "See every write of every service, with its operator and reason." },
    { name: "Operators", description: "Shows the calling operator, and what the operator may publish." },
    { name: "Gateways", description: "The gateways that run, and what each has loaded." },
    {
      name: "Edge",
      description: "The edge description: everything that clients of the gateway may call, in OpenAPI.",
    },
  ],
  credential: {
    name: "bearer",
    scheme: { type: "http", scheme: "bearer" },
    description: "The value of ADMIN_TOKEN, a token of OPERATORS_FILE, or a JWT of OPERATOR_ISSUER.",
    sample: { name: "Authorization", isBearer: true, variable: "ADMIN_TOKEN" },
  },
  errorDetails: { FORBIDDEN: forbiddenDetails },
  sampleOrigin: { variable: "REGISTRY_URL" },
  response_headers: {
    "X-Request-ID": Type.String({
      description: "The id of the request in the logs.",
      examples: [REQUEST_ID_EXAMPLE],
    }),
  },
} satisfies Omit<SwaggerOptions, "bodyBytesMax">;
