import { type Static, Type } from "@sinclair/typebox";
import { wholeField } from "../../domain/schemas/index.ts";
import { GatewayInstance } from "../gateway-instance.ts";

export const Gateway = Type.Object(
  {
    ...GatewayInstance.properties,
    current: Type.Boolean({
      description:
        "Whether the gateway serves everything that is published. If true, every committed write is in the route store, and the gateway has loaded all services without skipping one.",
    }),
  },
  { title: "Gateway", description: "A running gateway, its loaded routes, and whether they are current." },
);
export type Gateway = Static<typeof Gateway>;

/** A page of the running gateways (RG-85). */
export const Gateways = Type.Object(
  {
    gateways: Type.Array(Gateway, { description: "The gateways, in the order of their ids." }),
    has_more: Type.Boolean({ description: "Whether another page follows.", examples: [false] }),
  },
  { title: "GatewayList", description: "A page of the running gateways." },
);
export type Gateways = Static<typeof Gateways>;

/** The progress of a write towards the gateways when the response is sent (RG-88). */
export const Propagation = Type.Object(
  {
    gateways: wholeField(0, "The number of running gateways in the route store.", 3),
    reached: wholeField(0, "The number of gateways that serve the write.", 3),
    waited_ms: wholeField(0, "The milliseconds from the commit of the write to the response.", 42),
    projected: Type.Boolean({ description: "Whether the write is in the route store." }),
  },
  {
    title: "Propagation",
    description:
      "Present if the request has wait_ms: the progress of the write when the response is sent. Every gateway serves the write when `reached` equals `gateways`.",
    examples: [{ gateways: 3, reached: 3, waited_ms: 42, projected: true }],
  },
);
export type Propagation = Static<typeof Propagation>;

export const propagationField = { propagation: Type.Optional(Propagation) };

export const Deleted = Type.Object(
  { propagation: Propagation },
  { title: "Deleted", description: "A deleted service, and the progress of the deletion." },
);
