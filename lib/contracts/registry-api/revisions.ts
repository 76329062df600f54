import { type Static, Type } from "@sinclair/typebox";
import { FieldError } from "../../domain/errors/index.ts";
import { Change, ServiceName, StoredServiceConfig } from "../../domain/routes/index.ts";
import {
  mostlyNull,
  nullable,
  REQUEST_ID_EXAMPLE,
  textField,
  timeField,
} from "../../domain/schemas/index.ts";
import { OperatorName } from "./operators.ts";
import { RevisionNumber } from "./services.ts";

const RevisionAction = Type.Union(
  [Type.Literal("apply"), Type.Literal("put"), Type.Literal("delete"), Type.Literal("restore")],
  { title: "RevisionAction", description: "The write that appended the revision." },
);

/** The fields for the operator of a write, with the reason and the link that the operator gave (RG-119). */
const authorFields = {
  operator: nullable(OperatorName, {
    description: "The operator who made the write. Null for seeds.",
  }),
  reason: nullable(Type.String({ examples: ["Publish the new search"] }), {
    description: "The reason that the operator gave in X-Change-Reason, or null.",
  }),
  link: nullable(Type.String({ examples: ["https://git.example.com/widgets/runs/17"] }), {
    description: "The URL that the operator gave in X-Change-Link, or null.",
  }),
};

/** An entry of a service's history (RG-63). */
export const Revision = Type.Object(
  {
    service: ServiceName,
    revision: RevisionNumber,
    action: RevisionAction,
    restored_from: mostlyNull(RevisionNumber, {
      description: "The revision whose config a restore copied, or null for other writes.",
    }),
    config: nullable(StoredServiceConfig, {
      description: "The config, or null if the service was deleted or `unreadable` is present.",
      examples: undefined,
    }),
    unreadable: Type.Optional(
      Type.Array(FieldError, {
        description:
          "Only for a config that another version of Ostiary wrote: the part that this version cannot read.",
      }),
    ),
    request_id: textField("The id of the request that wrote the revision.", REQUEST_ID_EXAMPLE),
    ...authorFields,
    created_at: timeField("The time when the revision was written."),
  },
  { title: "Revision", description: "An entry of a service's history." },
);
export type Revision = Static<typeof Revision>;

export const Revisions = Type.Object(
  { revisions: Type.Array(Revision, { description: "The revisions, newest first." }) },
  { title: "RevisionList", description: "The history of a service, newest first." },
);

export const Diff = Type.Object(
  { changes: Type.Array(Change, { description: "The differences." }) },
  { title: "Diff", description: "The changes from one revision to another." },
);

/** A write of a service, as the list of all writes shows it (RG-120). */
export const RecordedChange = Type.Pick(
  Revision,
  ["service", "revision", "action", "operator", "reason", "link", "request_id", "created_at"],
  { title: "RecordedChange", description: "A write of a service, without its config." },
);
export type RecordedChange = Static<typeof RecordedChange>;

export const RecordedChanges = Type.Object(
  {
    changes: Type.Array(RecordedChange, { description: "The writes, newest first." }),
    has_more: Type.Boolean({ description: "Whether another page follows." }),
  },
  { title: "RecordedChangeList", description: "A page of the writes of all services, newest first." },
);
