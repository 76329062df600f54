import { type Static, Type } from "@sinclair/typebox";
import { Change, ServiceName } from "../../domain/routes/index.ts";
import { nullable } from "../../domain/schemas/index.ts";
import { propagationField } from "./gateways.ts";
import { RevisionNumber } from "./services.ts";

/** The answer of apply (Gateway specification, Endpoints). */
export const Applied = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          service: ServiceName,
          status: Type.Literal("upserted", { description: "Written, with a new revision." }),
          revision: RevisionNumber,
        },
        { title: "AppliedService", description: "A service that was written." },
      ),
      { description: "One for each service of the document." },
    ),
    ...propagationField,
  },
  { title: "Applied", description: "What an apply wrote: one result for each service of the document." },
);
export type Applied = Static<typeof Applied>;

/** The answer of a dry run (contract 3, Beyond the specification). */
export const Plan = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          service: ServiceName,
          status: Type.Union([Type.Literal("created"), Type.Literal("changed"), Type.Literal("unchanged")], {
            description: "What would become of the service.",
          }),
          revision: nullable(RevisionNumber, {
            description: "The current revision; null when there is no current service.",
          }),
          changes: Type.Array(Change, { description: "What would change." }),
        },
        { title: "PlannedService", description: "A service that would be written." },
      ),
      { description: "One for each service of the document." },
    ),
  },
  { title: "Plan", description: "What an apply would do: one result for each service of the document." },
);
export type Plan = Static<typeof Plan>;
