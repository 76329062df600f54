import { startIdentityProvider, startSampleService } from "@ostiary/demo";
import type { Running } from "@ostiary/lib/runtime/service";
import type { PlatformConfig } from "./config.ts";

/** The running toy identity provider and sample service. */
interface Demo extends Running {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly sampleServiceUrl: string;
}

export async function startDemo(config: PlatformConfig): Promise<Demo> {
  const host = config.DEMO_HOST;
  const provider = await startIdentityProvider({
    host,
    port: config.DEMO_IDENTITY_PROVIDER_PORT,
    variable: "DEMO_IDENTITY_PROVIDER_PORT",
  });
  const sample = startSampleService({ host, port: config.DEMO_PORT, variable: "DEMO_PORT" });
  return {
    name: "demo",
    port: sample.port,
    internal_port: provider.port,
    issuer: provider.issuer,
    jwks_uri: provider.jwks_uri,
    sampleServiceUrl: sample.url,
    async shutdown() {
      await Promise.all([provider.stop(), sample.stop()]);
    },
  };
}
