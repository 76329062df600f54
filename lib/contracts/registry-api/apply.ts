import { type Static, Type } from "@sinclair/typebox";
import { Change, ServiceName } from "../../domain/routes/index.ts";
import { nullable } from "../../domain/schemas/index.ts";
import { propagationField } from "./gateways.ts";
import { RevisionNumber } from "./services.ts";

/** The response to an apply (RG-43). */
export const Applied = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          service: ServiceName,
          status: Type.Literal("upserted", { description: "Apply wrote the service as a new revision." }),
          revision: RevisionNumber,
        },
        { title: "AppliedService", description: "A service that was written." },
      ),
      { description: "One result for each service of the document." },
    ),
    ...propagationField,
  },
  {
    title: "Applied",
    description: "The result of an apply, with one entry for each service of the document.",
  },
);
export type Applied = Static<typeof Applied>;

/** The response to a dry run of an apply (RG-70). */
export const DryRun = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          service: ServiceName,
          status: Type.Union([Type.Literal("created"), Type.Literal("changed"), Type.Literal("unchanged")], {
            description: "The effect of the apply on the service.",
          }),
          revision: nullable(RevisionNumber, {
            description: "The service's current revision, or null if the service does not exist.",
          }),
          changes: Type.Array(Change, { description: "The changes that the apply would make." }),
        },
        { title: "PreviewedService", description: "A service that would be written." },
      ),
      { description: "One result for each service of the document." },
    ),
  },
  {
    title: "Preview",
    description: "The preview of an apply, with one entry for each service of the document.",
  },
);
export type DryRun = Static<typeof DryRun>;
