import {
  ERRORS_INTRODUCTION,
  INTERNAL_CREDENTIAL,
  LISTS_INTRODUCTION,
  type SwaggerOptions,
} from "@ostiary/lib/runtime/http";

type Text = Omit<SwaggerOptions, "body_bytes_max">;

/** The head of the document of the public port. */
export const publicText = {
  title: "Ostiary audit",
  description: `One event for each audited request, read by the organization or the person it concerns.

The gateway writes an event before it calls a service, as an intent, and completes it with the outcome. One that is
\`pending\` has no outcome yet, or has lost it: what came of the request is not known.

## Credentials

This port takes none: it is reached by the gateway, which proves the caller and writes the caller's ids into the path.
Customers call the routes that are published, \`/org/audit-events\` and \`/user/audit-events\`.

${ERRORS_INTRODUCTION}

${LISTS_INTRODUCTION}

Filters combine. With \`Accept: text/csv\` or \`application/x-ndjson\` the answer is the whole filtered log, as a stream.

## Limits

A page has at most 100 events. A few exports run at a time; one more is 429. Other rate limits are the gateway's.

## Doing it twice

Everything here reads: repeat what you like.`,
  tags: [
    { name: "Audit events", description: "The log, newest first, as pages or as an export." },
    { name: "Proof", description: "What shows that the log was not altered, for anyone to keep." },
  ],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of code samples
  sample_origin: "${AUDIT_URL}",
} satisfies Text;

/** The head of the document of the internal port. */
export const internalText = {
  title: "Ostiary audit, internal",
  description: `What the gateway writes: the intent of a request before its service is called, and the outcome after it.

## Credentials

\`X-Platform-Internal-Token\` with the value of \`INTERNAL_AUTH_TOKEN\`, where one is configured. This port is not for the
public.

${ERRORS_INTRODUCTION}

## Doing it twice

Both writes are named by the request's id. An intent that is there already stays as it is, and so does an outcome: after
a 503, or no answer at all, write the same again.

## Limits

A body has at most 64 KiB, one of several events more; a batch has up to 100 of them.`,
  tags: [{ name: "Writes", description: "Intents and outcomes of requests." }],
  credential: INTERNAL_CREDENTIAL,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of code samples
  sample_origin: "${AUDIT_INTERNAL_URL}",
} satisfies Text;
