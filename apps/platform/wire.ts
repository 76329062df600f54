import { pause, systemClock } from "@ostiary/lib/async";
import type { Environment } from "@ostiary/lib/runtime/config";
import { localOrigin, type Running } from "@ostiary/lib/runtime/service";
import { publishCatalogs } from "./catalogs.ts";
import type { PlatformConfig } from "./config.ts";
import {
  adminTokenFrom,
  type DataDirectory,
  openDataDirectory,
  signingKey,
  streamKeys,
} from "./data-directory.ts";
import { type Demo, startDemo } from "./demo.ts";
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
  /** Whether to delete the data of earlier starts. */
  fresh: boolean;
  onProgress(step: string): void;
}

/** The URLs of the public ports. */
interface Addresses {
  gateway_url: string;
  registry_url: string;
  identity_url: string;
  audit_url: string;
  /** The URL of the portal at the gateway, or null if the portal is off. */
  portal_url: string | null;
}

/** The running platform. All of its parts stop together. */
export interface Platform extends Running {
  readonly addresses: Addresses;
  /** The file that holds the token of the registry's admin API. */
  readonly admin_token_file: string;
  /** Whether the edge description needs no token. */
  readonly isDescriptionPublic: boolean;
  /** The addresses and files of the tour, or null when the demo is off. */
  readonly tour: TourPlaces | null;
}

/** Starts the services in this process, on shared stores. */
export async function startPlatform({ config, env, fresh, onProgress }: PlatformOptions): Promise<Platform> {
  // the parts stop in reverse order: the gateway drains while the services behind it still answer
  await using started = new AsyncDisposableStack();
  const directory = await openDataDirectory(config.DATA_DIR, fresh);
  started.defer(() => directory.close());
  const admin_token = await adminTokenFrom(directory.admin_token_file, config.ADMIN_TOKEN);
  const keys = await keyFiles(env, directory);
  const database_url = config.DATABASE_URL ?? directory.database_url;
  onProgress("Opening the stores");
  const stores = await openStores(database_url, config);
  started.defer(() => stores.close());

  onProgress("Starting the registry, identity and audit");
  const environment = sharedEnvironment(config, env, {
    database_url,
    admin_token,
    ...logTarget(config, env, directory),
    ...keys,
  });
  const backends = await startBackends(config, environment, stores);
  started.defer(() => stopAll(Object.values(backends)));
  const demo = config.DEMO ? await startDemo(config) : null;
  if (demo) started.defer(() => demo.shutdown());

  const portal = await startPortal(config, environment, demo);
  if (portal) started.defer(() => portal.shutdown());

  onProgress("Publishing the catalogs");
  const isPublic = isDescriptionPublic(config, environment);
  await publish(config, { ...backends, portal, isDescribed: isPublic }, demo, admin_token);
  onProgress("Starting the gateway");
  const gateway = await startGateway(config, environment, stores, backends, demo);
  started.defer(() => gateway.shutdown());
  await untilReady(gateway, config.HOST, onProgress);
  const addresses = addressesOf(config, gateway, backends, portal);
  const running = started.move();
  return {
    name: "platform",
    port: gateway.port,
    internal_port: gateway.internal_port,
    log: gateway.log,
    switchLogLevel: () => switchLogLevels([gateway, ...Object.values(backends), portal]),
    shutdown: () => running.disposeAsync(),
    addresses,
    admin_token_file: directory.admin_token_file,
    isDescriptionPublic: isPublic,
    tour: demo && tourPlaces(addresses, demo, directory.admin_token_file),
  };
}

/** How long the start waits for stores and key sets that do not answer. */
const READY_MS_MAX = 10_000;
const READY_PAUSE_MS = 50;

/** Waits until the gateway is ready, so that the first call of the tour is not refused. */
async function untilReady(gateway: Running, host: string, onProgress: (step: string) => void): Promise<void> {
  const url = `${localOrigin(host, gateway.internal_port)}/health/ready`;
  const until_ms = systemClock.elapsed_ms() + READY_MS_MAX;
  while (systemClock.elapsed_ms() < until_ms) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(READY_MS_MAX) }).catch(() => null);
    if (answer?.ok) return;
    await pause(systemClock, READY_PAUSE_MS);
  }
  onProgress(`The gateway is not ready: ${url} says why`);
}

/** Returns the files of audit's keys. Creates a key file if no variable names one. */
async function keyFiles(env: Environment, directory: DataDirectory) {
  return {
    signing_key_file: env.AUDIT_SIGNING_KEY_FILE || (await signingKey(directory.signing_key_file)),
    stream_key_file: env.AUDIT_STREAM_KEY_FILE || (await streamKeys(directory.stream_key_file)),
  };
}

/** Returns the log's file and format. The default format is `pretty` for a terminal, else `json`. */
function logTarget(config: PlatformConfig, env: Environment, directory: DataDirectory) {
  const log_file = config.LOG_FILE ?? directory.log_file;
  const format = log_file === "-" && process.stdout.isTTY ? "pretty" : "json";
  return { log_file, log_format: env.LOG_FORMAT || format };
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
  admin_token: string,
): Promise<void> {
  const registry_url = localOrigin(config.HOST, backends.registry.port);
  return publishCatalogs({ registry_url, admin_token }, [
    { service: "identity", url: localOrigin(config.HOST, backends.identity.port) },
    { service: "audit", url: localOrigin(config.HOST, backends.audit.port) },
    ...(backends.portal ? [{ service: "portal", url: localOrigin(config.HOST, backends.portal.port) }] : []),
    ...(backends.portal && backends.isDescribed ? [{ service: "registry", url: registry_url }] : []),
    ...(demo ? [{ service: "demo", url: demo.sample_service_url }] : []),
  ]);
}

function addressesOf(
  config: PlatformConfig,
  gateway: Running,
  backends: Backends,
  portal: Running | null,
): Addresses {
  const gateway_url = localOrigin(config.HOST, gateway.port);
  return {
    gateway_url,
    portal_url: portal && `${gateway_url}/portal`,
    registry_url: localOrigin(config.HOST, backends.registry.port),
    identity_url: localOrigin(config.HOST, backends.identity.port),
    audit_url: localOrigin(config.HOST, backends.audit.port),
  };
}

function tourPlaces(
  { gateway_url, registry_url }: Addresses,
  demo: Demo,
  admin_token_file: string,
): TourPlaces {
  return {
    gateway_url,
    registry_url,
    identity_provider_url: demo.issuer,
    sample_service_url: demo.sample_service_url,
    admin_token_file,
  };
}

function switchLogLevels(parts: (Running | null)[]): void {
  for (const part of parts) part?.switchLogLevel?.();
}

async function stopAll(parts: Running[]): Promise<void> {
  await Promise.all(parts.map((part) => part.shutdown()));
}
