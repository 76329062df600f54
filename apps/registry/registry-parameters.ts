import { parseRevision } from "@ostiary/lib/contracts/registry-api";
import { notFound } from "@ostiary/lib/domain/errors";
import { ServiceName } from "@ostiary/lib/domain/routes";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { changeNoteHeaders } from "./operators/change-note.ts";
import { authorOf } from "./operators/write-permission.ts";
import { readIfMatch } from "./publishing/if-match.ts";
import type { ServiceWrite } from "./services/service-commands.ts";

/** The path parameter that names a service; see {@link serviceName}. */
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

/** Returns the service's name from a path. Throws a 404 for a name that no service can have. */
export function serviceName(params: { name: string }): string {
  if (!Value.Check(ServiceName, params.name)) throw notFound("service", params.name);
  return params.name;
}

/** The path parameter that names a revision; see {@link revisionNumber}. */
export const RevisionParam = Type.String({
  description: "A revision's number.",
  openapi: { type: "integer", minimum: 1, maximum: 999_999_999, examples: [3] },
});

/** Returns the revision's number from a path. Throws a 404 for a text that cannot be a revision. */
export function revisionNumber(text: string): number {
  const revision = parseRevision(text);
  if (revision === null) throw notFound("revision", text);
  return revision;
}

/** Returns the schema of the headers of a write. `ifMatch` describes the If-Match header. */
export function writeHeadersWith(ifMatch: string) {
  return Type.Object({
    "if-match": Type.Optional(
      Type.String({
        // no example, because the page's "try it out" would send it
        description: ifMatch,
        openapi: { pattern: '^(\\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$' },
      }),
    ),
    ...changeNoteHeaders,
  });
}

/** The headers of writes to one service; see {@link serviceWrite}. */
export const writeHeaders = writeHeadersWith(
  'The expected current revision in quotes, such as `"3"`, or `*` for any revision. 412 if another revision is current.',
);

/** Reads the precondition and the author of a write from its headers. Throws a 422 for a malformed header. */
export function serviceWrite(request: Request): ServiceWrite {
  return { ifMatch: readIfMatch(request), author: authorOf(request) };
}
