import { ERRORS_INTRODUCTION, LISTS_INTRODUCTION } from "@ostiary/lib/openapi";
import { INTERNAL_CREDENTIAL, type SwaggerOptions } from "@ostiary/lib/runtime/http";

type Text = Omit<SwaggerOptions, "bodyBytesMax">;

export const publicText = {
  title: "Ostiary audit",
  description: `The audit log: one event for each audited request, for the organization or the person that it concerns.
The gateway writes an event as an intent before it calls a service, and completes it with the outcome. A \`pending\`
event has no outcome yet, or has lost it: the result of the request is unknown.

This port takes no credentials, because the gateway calls it. Customers call the published routes, \`/org/audit-events\`,
\`/org/audit-streams\`, \`/org/usage\` and \`/user/audit-events\`.
${ERRORS_INTRODUCTION}
${LISTS_INTRODUCTION}`,
  tags: [
    { name: "Audit events", description: "The log, newest first, as pages or as an export." },
    { name: "Streams", description: "Delivery of an organization's events to its own receivers." },
    { name: "Usage", description: "The usage of organizations, as gateways counted it." },
    {
      name: "Proof",
      description: "The signed root of the log, and the tiles of its tree. Anyone may keep copies.",
    },
  ],
  sampleOrigin: { variable: "AUDIT_URL" },
} satisfies Text;

export const internalText = {
  title: "Ostiary audit, internal",
  description: `The gateway writes the intent of each request before it calls the service, and the outcome after the call.
Each request needs \`X-Platform-Internal-Token\` with the value of \`INTERNAL_AUTH_TOKEN\`, if one is configured.

The request's id names the event, so the gateway can repeat a write that got a 503 or no response: an existing intent or
outcome stays unchanged. A batch has at most 100 items. Gateways report usage too. Each report has a number, so a
repeated report counts once. Billing systems read the feed of usage.
${ERRORS_INTRODUCTION}`,
  tags: [
    { name: "Writes", description: "Intents and outcomes of requests." },
    { name: "Usage", description: "Reports of the usage of organizations." },
  ],
  credential: INTERNAL_CREDENTIAL,
  sampleOrigin: { variable: "AUDIT_INTERNAL_URL" },
} satisfies Text;
