import { type Static, Type } from "@sinclair/typebox";
import { GatewayInstance } from "../route-store.ts";

/** A gateway that runs, as the list of gateways shows it. */
export const Gateway = Type.Object(
  {
    ...GatewayInstance.properties,
    current: Type.Boolean({
      description:
        "Whether it serves all that is published now: every committed write is in the route store, and the gateway has loaded all that is there and left nothing out.",
    }),
  },
  { title: "Gateway", description: "A gateway that runs, what it has loaded, and whether that is current." },
);
export type Gateway = Static<typeof Gateway>;

/** The gateways that run (contract 3, Beyond the specification). */
export const Gateways = Type.Object(
  { gateways: Type.Array(Gateway, { description: "The gateways, in the order of their ids." }) },
  { title: "Gateways", description: "The gateways that run." },
);

/** How far a write has come when its caller waited for that (contract 3, Beyond the specification). */
export const Propagation = Type.Object(
  {
    gateways: Type.Integer({
      minimum: 0,
      description: "How many gateways run, as far as is known.",
      examples: [3],
    }),
    reached: Type.Integer({
      minimum: 0,
      description: "How many of them serve what was written.",
      examples: [3],
    }),
    waited_ms: Type.Integer({
      minimum: 0,
      description: "How long the answer waited after the write was committed.",
      examples: [42],
    }),
    projected: Type.Boolean({ description: "Whether the route store has what was written." }),
  },
  {
    title: "Propagation",
    description:
      "With wait_ms: how far the write had come when the answer was given. Complete when reached is gateways.",
    examples: [{ gateways: 3, reached: 3, waited_ms: 42, projected: true }],
  },
);
export type Propagation = Static<typeof Propagation>;

/** What the answer of a write has more when its caller waited. */
export const propagationField = { propagation: Type.Optional(Propagation) };

/** The answer of a deletion that waited. */
export const Deleted = Type.Object(
  { propagation: Propagation },
  { title: "Deleted", description: "The service is deleted, and how far that had come." },
);
