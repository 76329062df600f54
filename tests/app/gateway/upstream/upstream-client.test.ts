/** Runs the suites for both HTTP clients for services, the gateway's pool and the runtime's fetch. */
import { systemClock } from "@ostiary/lib/async";
import { createMetrics } from "@ostiary/lib/runtime/telemetry";
import { ConnectionCounts } from "../../../../apps/gateway/upstream/connection-counts.ts";
import { FetchClient } from "../../../../apps/gateway/upstream/fetch-client.ts";
import { PoolClient } from "../../../../apps/gateway/upstream/pool-client.ts";
import { type ClientUnderTest, POOL_OPTIONS } from "./client-bed.ts";
import { describeConnections } from "./connections-suite.ts";
import { describeFailures } from "./failures-suite.ts";
import { describeMessages } from "./messages-suite.ts";

const pool: ClientUnderTest = {
  name: "the pool",
  make: () => new PoolClient(POOL_OPTIONS, new ConnectionCounts(createMetrics().registry), systemClock),
  isStrict: true,
};
const runtime: ClientUnderTest = { name: "fetch", make: () => new FetchClient(), isStrict: false };

for (const client of [pool, runtime]) {
  describeMessages(client);
  describeConnections(client);
  describeFailures(client);
}
