import { type Static, Type } from "@sinclair/typebox";
import { ServiceName } from "../../domain/routes/index.ts";

/** What the route store may not have yet. */
export const Projections = Type.Object(
  {
    outstanding: Type.Array(
      Type.Object(
        {
          service: ServiceName,
          age_seconds: Type.Number({
            minimum: 0,
            description: "For how long it has waited.",
            examples: [42.5],
          }),
        },
        {
          title: "OutstandingProjection",
          description: "A service that the route store may not have as it is.",
        },
      ),
      { description: "The services, those that have waited longest first. Empty where all is well." },
    ),
  },
  {
    title: "Projections",
    description: "The services whose newest revision the route store may not have yet.",
  },
);
export type Projections = Static<typeof Projections>;
