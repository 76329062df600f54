import { parseRevision } from "@ostiary/lib/contracts/registry-api";
import { notFound } from "@ostiary/lib/domain/errors";
import { ServiceName } from "@ostiary/lib/domain/routes";
import { contextOf } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readIfMatch } from "./publishing/if-match.ts";
import type { ServiceWrite } from "./services/commands.ts";

/** The service in a path; see {@link serviceName}. */
export const serviceParams = Type.Object({
  name: Type.String({
    description: "The service's name.",
    examples: ["widgets"],
    openapi: {
      pattern: ServiceName.pattern,
      minLength: ServiceName.minLength,
      maxLength: ServiceName.maxLength,
    },
  }),
});

/** The name in a path of something that must exist; 404 for what no service can be named. */
export function serviceName(params: { name: string }): string {
  if (!Value.Check(ServiceName, params.name)) throw notFound("service", params.name);
  return params.name;
}

/** A revision in a path; see {@link revisionNumber}. */
export const RevisionParam = Type.String({
  description: "A revision's number.",
  openapi: { type: "integer", minimum: 1, maximum: 999_999_999, examples: [3] },
});

/** The number that a path names; 404 for what can not be one. */
export function revisionNumber(text: string): number {
  const revision = parseRevision(text);
  if (revision === null) throw notFound("revision", text);
  return revision;
}

/** Header of the conditional writes; see {@link serviceWrite}. */
export const ifMatchHeaders = Type.Object({
  "if-match": Type.Optional(
    Type.String({
      // no example: the page's "try it out" would send it
      description: 'Refuse with 412 unless this is the current revision, in quotes such as `"3"`; `*`: any.',
      openapi: { pattern: '^(\\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$' },
    }),
  ),
});

/** What the headers of a conditional write say; 422 when If-Match is malformed. */
export function serviceWrite(request: Request): ServiceWrite {
  return { if_match: readIfMatch(request), request_id: contextOf(request).request_id };
}
