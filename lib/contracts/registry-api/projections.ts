import { type Static, Type } from "@sinclair/typebox";
import { ServiceName } from "../../domain/routes/index.ts";

export const Projections = Type.Object(
  {
    outstanding: Type.Array(
      Type.Object(
        {
          service: ServiceName,
          age_seconds: Type.Number({
            minimum: 0,
            description: "The time that the service has been waiting, in seconds.",
            examples: [42.5],
          }),
        },
        {
          title: "OutstandingProjection",
          description: "A service whose newest revision may be missing from the route store.",
        },
      ),
      { description: "The services, longest wait first. Empty if no service waits." },
    ),
  },
  {
    title: "OutstandingProjectionList",
    description: "The services whose newest revision may be missing from the route store.",
  },
);
export type Projections = Static<typeof Projections>;
