import type { Environment } from "@ostiary/lib/runtime/config";
import { localOrigin, type Running } from "@ostiary/lib/runtime/service";
import { publishCatalogs } from "./catalogs.ts";
import type { PlatformConfig } from "./config.ts";
import { logFile, openDataDirectory, signingKey, streamKeys, tokenFrom } from "./data-directory.ts";
import { startDemo } from "./demo.ts";
import { untilReady } from "./readiness.ts";
import {
  isDescriptionPublic,
  sharedEnvironment,
  startBackends,
  startGateway,
  startPortal,
} from "./start-services.ts";
import { openStores } from "./stores.ts";
import type { TourPlaces } from "./tour.ts";

interface PlatformOptions {
  config: PlatformConfig;
  /** The process's environment, which the services read. The platform's own values override it. */
  env: Environment;
  /** The command that starts the operator's command line, for messages. */
  cli: string;
  onProgress(step: string): void;
}

/** The URLs of the public ports. */
interface Addresses {
  gatewayUrl: string;
  registryUrl: string;
  identityUrl: string;
  auditUrl: string;
  /** The URL of the portal at the gateway, or null if the portal is off. */
  portalUrl: string | null;
}

/** The running platform. All of its parts stop together. */
export interface Platform extends Running {
  readonly addresses: Addresses;
  /** The file that holds the token of the registry's admin API. */
  readonly adminTokenFile: string;
  /** Whether the edge description needs no token. */
  readonly isDescriptionPublic: boolean;
  /** The addresses and files of the tour, or null when the demo is off. */
  readonly tour: TourPlaces | null;
}

/** Starts the services in this process, on shared stores. */
export async function startPlatform({ config, env, cli, onProgress }: PlatformOptions): Promise<Platform> {
  // the parts stop in reverse order: the gateway drains while the services behind it still respond
  await using started = new AsyncDisposableStack();
  const directory = await openDataDirectory(config.DATA_DIR);
  started.defer(() => directory.close());
  const { adminTokenFile } = directory;
  const adminToken = await tokenFrom(adminTokenFile, config.ADMIN_TOKEN);
  const databaseUrl = config.DATABASE_URL ?? directory.databaseUrl;
  const environment = sharedEnvironment(config, env, {
    DATABASE_URL: databaseUrl,
    ADMIN_TOKEN: adminToken,
    INTERNAL_AUTH_TOKEN: await tokenFrom(directory.internalTokenFile, config.INTERNAL_AUTH_TOKEN),
    AUDIT_SIGNING_KEY_FILE: env.AUDIT_SIGNING_KEY_FILE || (await signingKey(directory.signingKeyFile)),
    AUDIT_STREAM_KEY_FILE: env.AUDIT_STREAM_KEY_FILE || (await streamKeys(directory.streamKeyFile)),
    LOG_FILE: config.LOG_FILE ?? (await logFile(directory.logFile)),
  });
  onProgress("Opening the stores");
  const stores = await openStores(databaseUrl, config);
  started.defer(() => stores.close());

  onProgress("Starting the registry, identity and audit");
  const backends = await startBackends(config, environment, stores);
  started.defer(async () => {
    await Promise.all(Object.values(backends).map((part) => part.shutdown()));
  });
  const demo = config.DEMO ? await startDemo(config) : null;
  if (demo) started.defer(() => demo.shutdown());

  const portal = await startPortal(config, environment, demo);
  if (portal) started.defer(() => portal.shutdown());

  onProgress("Publishing the catalogs");
  const isPublic = isDescriptionPublic(config, environment);
  const urls = {
    registryUrl: localOrigin(config.REGISTRY_HOST, backends.registry.port),
    identityUrl: localOrigin(config.IDENTITY_HOST, backends.identity.port),
    auditUrl: localOrigin(config.AUDIT_HOST, backends.audit.port),
  };
  const access = { registryUrl: urls.registryUrl, adminToken, program: cli };
  await publishCatalogs(access, [
    { service: "identity", url: urls.identityUrl },
    { service: "audit", url: urls.auditUrl },
    ...(portal ? [{ service: "portal", url: localOrigin(config.PORTAL_HOST, portal.port) }] : []),
    // the portal shows the edge description
    ...(portal && isPublic ? [{ service: "registry", url: urls.registryUrl }] : []),
    ...(demo ? [{ service: "demo", url: demo.sampleServiceUrl }] : []),
  ]);
  onProgress("Starting the gateway");
  const gateway = await startGateway(config, environment, stores, backends, demo);
  started.defer(() => gateway.shutdown());
  await untilReady(gateway, { host: config.GATEWAY_INTERNAL_HOST, access, onProgress });
  const gatewayUrl = localOrigin(config.HOST, gateway.port);
  const running = started.move();
  return {
    name: "platform",
    port: gateway.port,
    internal_port: gateway.internal_port,
    log: gateway.log,
    switchLogLevel() {
      for (const part of [gateway, ...Object.values(backends), portal]) part?.switchLogLevel?.();
    },
    shutdown: () => running.disposeAsync(),
    addresses: { ...urls, gatewayUrl, portalUrl: portal && `${gatewayUrl}/portal` },
    adminTokenFile,
    isDescriptionPublic: isPublic,
    tour: demo && {
      gatewayUrl,
      registryUrl: urls.registryUrl,
      identityProviderUrl: demo.issuer,
      sampleServiceUrl: demo.sampleServiceUrl,
      adminTokenFile,
    },
  };
}
