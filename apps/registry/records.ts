import { ServiceName, StoredServiceConfig } from "@ostiary/lib/routes";
import { type Static, type TSchema, Type } from "@sinclair/typebox";

const nullable = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });

export const RevisionNumber = Type.Integer({
  minimum: 1,
  description: "Counts the writes of one service from 1.",
  examples: [3],
});

export const RevisionAction = Type.Union(
  [Type.Literal("apply"), Type.Literal("put"), Type.Literal("delete"), Type.Literal("restore")],
  { description: "The write that appended the revision." },
);
export type RevisionAction = Static<typeof RevisionAction>;

/** An entry of a service's history (Gateway specification, Revision record; contract 3). */
export const Revision = Type.Object(
  {
    service: ServiceName,
    revision: RevisionNumber,
    action: RevisionAction,
    restored_from: nullable(RevisionNumber, "The revision whose config a restore copied."),
    config: nullable(StoredServiceConfig, "null: the service was deleted."),
    request_id: Type.String({ description: "The request that wrote it." }),
    created_at: Type.String({ format: "date-time", description: "RFC 3339, UTC." }),
  },
  { title: "Revision", description: "An entry of a service's history." },
);
export type Revision = Static<typeof Revision>;

/** A current service with its name and revision, as GET, PUT and restore answer it (contract 3). */
export const Service = Type.Object(
  { name: ServiceName, revision: RevisionNumber, ...StoredServiceConfig.properties },
  {
    title: "Service",
    description: "A current service in expanded form, with its name and revision.",
    response_headers: { ETag: "The revision in double quotes, for If-Match." },
  },
);
export type Service = Static<typeof Service>;

/** The service in a path. What is no valid name is unknown, or refused by PUT. */
export const serviceParams = Type.Object({
  name: Type.String({ description: "The service's name.", examples: ["widgets"] }),
});

/** A revision in a path. What is no number is unknown. */
export const RevisionParam = Type.String({ description: "A revision's number.", examples: ["3"] });

/** Header of the conditional writes, read by `readPrecondition`. */
export const ifMatchHeaders = Type.Object({
  "if-match": Type.Optional(
    Type.String({
      description: "Refuse with 412 unless this is the current revision, in double quotes; `*`: any.",
      examples: ['"3"'],
    }),
  ),
});
