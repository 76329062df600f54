import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations({
  listGateways: [
    "List the running gateways",
    "Each running gateway with the routes that it has loaded, and whether these are all published routes. 503 while the route store is unavailable. A gateway that died is listed for up to 15 seconds more. A page has at most 100 gateways.",
  ],
});
