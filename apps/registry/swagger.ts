import { REQUEST_ID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import { ERRORS_INTRODUCTION, type SwaggerOptions } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";

const description = `The admin API that publishes routes. It checks route configuration, keeps every revision of it, and projects the
current one to the store that gateways read.

Begin with a dry run of a document (\`POST /apply?dry_run=true\`), which tells what it would change; then apply it. A 200
says that the routes are recorded: with \`wait_ms\` the answer waits until gateways serve them.

## Credentials

Every operation takes the registry's admin token, the value of \`ADMIN_TOKEN\`: \`Authorization: Bearer …\`. It may do
everything, so it belongs to operators and pipelines, and this port is not for the public.

${ERRORS_INTRODUCTION}

## Lists

Lists are whole: there are no pages.

## Limits

There is no rate limit. A body has at most \`MAX_BODY_BYTES\` (4 MiB by default), a service at most 1 MiB of stored JSON,
and JSON and YAML nest at most 64 levels deep. Writers take turns; one that would wait too long is 503 with
\`Retry-After\`.

## Doing it twice

PUT and apply write what they are given, so repeating them leaves the same routes under a further revision. After a 503
on a write it is not known whether it happened: read the service, or send \`If-Match\` with the revision that you expect,
which is 412 once another one is current.`;

/** The head of the registry's OpenAPI document. */
export const swaggerOptions = {
  title: "Ostiary route registry",
  description,
  tags: [
    { name: "Apply", description: "Publish a configuration document, or see what it would change." },
    { name: "Services", description: "The services whose routes are published, one at a time." },
    { name: "Revisions", description: "The history of each service, and the way back." },
    { name: "Routes", description: "Find out which route serves a request." },
    { name: "Gateways", description: "The gateways that run, and what each has loaded." },
    { name: "Edge", description: "What clients of the gateway may call, as an OpenAPI document." },
  ],
  credential: {
    name: "bearer",
    scheme: { type: "http", scheme: "bearer" },
    description: "The value of ADMIN_TOKEN.",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of code samples
    sample: ["Authorization", "Bearer ${ADMIN_TOKEN}"],
  },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of code samples
  sample_origin: "${REGISTRY_URL}",
  response_headers: {
    "X-Request-ID": Type.String({
      description: "Names this request in the logs.",
      examples: [REQUEST_ID_EXAMPLE],
    }),
  },
} satisfies Omit<SwaggerOptions, "body_bytes_max">;
