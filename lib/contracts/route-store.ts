/** What registry and gateways say to each other in the route store (Gateway specification, Stored projection; contract 3). */
import { type Static, Type } from "@sinclair/typebox";
import { timeField } from "../domain/schemas/index.ts";

/** One key for each service, its name behind this; the value is its `StoredServiceConfig` as JSON. */
export const ROUTES_PREFIX = "edge/gateway/routes/";

/** The fence of each service's last projection, out of the gateway's sight. */
export const FENCES_PREFIX = "edge/gateway/revisions/";

/**
 * One key for each gateway that runs, its id behind this, leased so that it ends with the gateway; the value is
 * its {@link GatewayInstance} as JSON.
 */
export const INSTANCES_PREFIX = "edge/gateway/instances/";

/** How long a gateway's key outlives the last sign of life: it is gone within 15 s, etcd's own delays included. */
export const INSTANCE_TTL_SECONDS = 10;

/** More that a gateway had to leave out are not listed. */
export const SKIPPED_SERVICES_MAX = 1_000;

/** What a gateway has loaded. */
export const GatewayInstance = Type.Object(
  {
    instance: Type.String({
      pattern: "^[A-Za-z0-9._-]{1,128}$",
      minLength: 1,
      maxLength: 128,
      description: "The gateway's id: its host's name and a few characters that each start makes anew.",
      examples: ["gateway-7c9f-4e1d0a2b"],
    }),
    started_at: timeField("When the gateway started."),
    loaded_at: timeField("When it loaded what it serves now."),
    store_revision: Type.Integer({
      minimum: 0,
      description: "The route store's revision up to which every change is loaded.",
      examples: [4_217],
    }),
    services: Type.Integer({ minimum: 0, description: "How many services it serves.", examples: [12] }),
    routes: Type.Integer({ minimum: 0, description: "How many routes it serves.", examples: [148] }),
    skipped: Type.Array(
      Type.Object(
        {
          service: Type.String({ description: "The service's name.", examples: ["widgets"] }),
          reason: Type.String({
            description: "What the gateway can not take of it.",
            examples: ["url: Set url to `http://host:port`, such as `http://widgets:8080`."],
          }),
        },
        { title: "SkippedService", description: "A service that a gateway had to leave out." },
      ),
      {
        description: `Services that it had to leave out, ${SKIPPED_SERVICES_MAX} at most. Empty where all is well.`,
      },
    ),
  },
  { title: "GatewayInstance", description: "A gateway that runs, and what it has loaded." },
);
export type GatewayInstance = Static<typeof GatewayInstance>;
