import { type Static, Type } from "@sinclair/typebox";
import { Revision } from "./revisions.ts";

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
