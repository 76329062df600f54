import { reasonOf } from "@ostiary/lib/domain/errors";
import { loadConfig } from "@ostiary/lib/runtime/config";
import { runMain } from "@ostiary/lib/runtime/service";
import { trafficVariables } from "./config.ts";
import { Traffic } from "./traffic.ts";

/**
 * Sends requests of every kind at a steady rate, so that dashboards show data. The demo's routes must be
 * published.
 */
await runMain(async () => {
  // biome-ignore lint/style/noProcessEnv: main is the one place that reads the environment
  const { GATEWAY_URL, IDENTITY_PROVIDER_URL, TRAFFIC_RATE } = loadConfig(trafficVariables, process.env);
  const tell = (level: string, message: string, fields: object) =>
    process.stdout.write(`${JSON.stringify({ level, service: "traffic", message, ...fields })}\n`);
  const traffic = new Traffic({
    gatewayUrl: GATEWAY_URL,
    identityProviderUrl: IDENTITY_PROVIDER_URL,
    rate: TRAFFIC_RATE,
    onReport: (answers) => tell("info", "traffic", { answers }),
    onTrouble: (error) => tell("warn", "no traffic", { reason: reasonOf(error) }),
  });
  traffic.start();
  tell("info", "sending requests", { gatewayUrl: GATEWAY_URL, rate: TRAFFIC_RATE });
  return [{ name: "traffic", port: 0, internal_port: 0, shutdown: () => traffic.stop() }];
});
