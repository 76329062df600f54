import type { Environment } from "@ostiary/lib/runtime/config";
import { localOrigin, type Running } from "@ostiary/lib/runtime/service";
import { type AdminAccess, publishCatalogs } from "./catalogs.ts";
import type { PlatformConfig } from "./config.ts";
import {
  type DataDirectory,
  logFile,
  openDataDirectory,
  signingKey,
  streamKeys,
  tokenFrom,
} from "./data-directory.ts";
import { type Demo, startDemo } from "./demo.ts";
import { untilReady } from "./readiness.ts";
import {
  type Backends,
  isDescriptionPublic,
  sharedEnvironment,
  startBackends,
  startGateway,
  startPortal,
} from "./services.ts";
import { openStores } from "./stores.ts";
import type { TourPlaces } from "./tour.ts";

interface PlatformOptions {
  config: PlatformConfig;
  /** The process's environment, which the services read. The platform's own values override it. */
  env: Environment;
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
export async function startPlatform({ config, env, onProgress }: PlatformOptions): Promise<Platform> {
  // the parts stop in reverse order: the gateway drains while the services behind it still answer
  await using started = new AsyncDisposableStack();
  const directory = await openDataDirectory(config.DATA_DIR);
  started.defer(() => directory.close());
  const { adminTokenFile } = directory;
  const adminToken = await tokenFrom(adminTokenFile, config.ADMIN_TOKEN);
  const internalToken = await tokenFrom(directory.internalTokenFile, config.INTERNAL_AUTH_TOKEN);
  const keys = await keyFiles(env, directory);
  const databaseUrl = config.DATABASE_URL ?? directory.databaseUrl;
  onProgress("Opening the stores");
  const stores = await openStores(databaseUrl, config);
  started.defer(() => stores.close());

  onProgress("Starting the registry, identity and audit");
  const environment = sharedEnvironment(config, env, {
    databaseUrl,
    adminToken,
    internalToken,
    logFile: config.LOG_FILE ?? (await logFile(directory.logFile)),
    ...keys,
  });
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
  const access = { registryUrl: localOrigin(config.REGISTRY_HOST, backends.registry.port), adminToken };
  await publish(config, { ...backends, portal, isDescribed: isPublic }, demo, access);
  onProgress("Starting the gateway");
  const gateway = await startGateway(config, environment, stores, backends, demo);
  started.defer(() => gateway.shutdown());
  await untilReady(gateway, { host: config.GATEWAY_INTERNAL_HOST, access, onProgress });
  const addresses = addressesOf(config, gateway, backends, portal);
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
    addresses,
    adminTokenFile,
    isDescriptionPublic: isPublic,
    tour: demo && {
      gatewayUrl: addresses.gatewayUrl,
      registryUrl: addresses.registryUrl,
      identityProviderUrl: demo.issuer,
      sampleServiceUrl: demo.sampleServiceUrl,
      adminTokenFile,
    },
  };
}

/** Returns the files of audit's keys. Creates a key file if no variable names one. */
async function keyFiles(env: Environment, directory: DataDirectory) {
  return {
    signingKeyFile: env.AUDIT_SIGNING_KEY_FILE || (await signingKey(directory.signingKeyFile)),
    streamKeyFile: env.AUDIT_STREAM_KEY_FILE || (await streamKeys(directory.streamKeyFile)),
  };
}

/** The parts that the gateway publishes. */
type Published = Backends & {
  readonly portal: Running | null;
  /** Whether the gateway publishes the edge description, which the portal shows. */
  readonly isDescribed: boolean;
};

function publish(
  config: PlatformConfig,
  backends: Published,
  demo: Demo | null,
  access: AdminAccess,
): Promise<void> {
  return publishCatalogs(access, [
    { service: "identity", url: localOrigin(config.IDENTITY_HOST, backends.identity.port) },
    { service: "audit", url: localOrigin(config.AUDIT_HOST, backends.audit.port) },
    ...(backends.portal
      ? [{ service: "portal", url: localOrigin(config.PORTAL_HOST, backends.portal.port) }]
      : []),
    ...(backends.portal && backends.isDescribed ? [{ service: "registry", url: access.registryUrl }] : []),
    ...(demo ? [{ service: "demo", url: demo.sampleServiceUrl }] : []),
  ]);
}

function addressesOf(
  config: PlatformConfig,
  gateway: Running,
  backends: Backends,
  portal: Running | null,
): Addresses {
  const gatewayUrl = localOrigin(config.HOST, gateway.port);
  return {
    gatewayUrl,
    portalUrl: portal && `${gatewayUrl}/portal`,
    registryUrl: localOrigin(config.REGISTRY_HOST, backends.registry.port),
    identityUrl: localOrigin(config.IDENTITY_HOST, backends.identity.port),
    auditUrl: localOrigin(config.AUDIT_HOST, backends.audit.port),
  };
}
