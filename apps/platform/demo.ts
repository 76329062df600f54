import { startIdentityProvider, startSampleService } from "@ostiary/demo";
import { type Running, StartRefused } from "@ostiary/lib/runtime/service";
import type { PlatformConfig } from "./config.ts";

/** The toy identity provider and the sample service, running. */
export interface Demo extends Running {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly sample_service_url: string;
}

export async function startDemo(config: PlatformConfig): Promise<Demo> {
  const host = config.HOST;
  const provider = await listening("DEMO_IDENTITY_PROVIDER_PORT", () =>
    startIdentityProvider({ host, port: config.DEMO_IDENTITY_PROVIDER_PORT }),
  );
  const sample = await listening("DEMO_PORT", async () =>
    startSampleService({ host, port: config.DEMO_PORT }),
  );
  return {
    name: "demo",
    port: sample.port,
    internal_port: provider.port,
    issuer: provider.issuer,
    jwks_uri: provider.jwks_uri,
    sample_service_url: sample.url,
    async shutdown() {
      await Promise.all([provider.stop(), sample.stop()]);
    },
  };
}

async function listening<T>(variable: string, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (cause) {
    throw new StartRefused(
      `Can not listen on the port of ${variable}: it is in use or not allowed; set another.`,
      cause,
    );
  }
}
