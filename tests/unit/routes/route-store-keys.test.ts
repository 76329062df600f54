import { expect, test } from "bun:test";
import { FENCES_PREFIX, INSTANCES_PREFIX, ROUTES_PREFIX } from "@ostiary/lib/contracts/route-store-keys";

// GW-20, GW-30, RG-77, RG-78
test("registries and gateways of every version use the same keys of the route store", () => {
  expect([ROUTES_PREFIX, FENCES_PREFIX, INSTANCES_PREFIX]).toEqual([
    "edge/gateway/routes/",
    "edge/gateway/revisions/",
    "edge/gateway/instances/",
  ]);
});
