import { readFile } from "node:fs/promises";
import { pathTo, Refused, RegistryClient, refusalText } from "@ostiary/cli";
import { Applied, type Revision, Revisions, Service } from "@ostiary/lib/contracts/registry-api";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import { servicesOfYaml } from "@ostiary/registry/document";

/** A catalog under `seeds/`: the name of its only service, and the URL of this service. */
interface Catalog {
  service: string;
  url: string;
}

/** The URL of the registry, the token of its admin API, and the command line's name for messages. */
export interface AdminAccess {
  registryUrl: string;
  adminToken: string;
  program: string;
}

const TIMEOUT_S = 60;
const JSON_BODY = { "Content-Type": "application/json" };

export function adminClient(
  { registryUrl, adminToken, program }: AdminAccess,
  timeoutS: number,
): RegistryClient {
  return new RegistryClient({ REGISTRY_URL: registryUrl, ADMIN_TOKEN: adminToken }, { timeoutS, program });
}

/**
 * Applies each catalog whose service has no history, through the registry's admin API. A service with history keeps
 * the operator's configuration. Updates only the URL of such a service, because ports may differ between starts.
 */
export async function publishCatalogs(access: AdminAccess, catalogs: readonly Catalog[]): Promise<void> {
  const registry = adminClient(access, TIMEOUT_S);
  for (const catalog of catalogs) {
    try {
      await publishCatalog(registry, catalog);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      throw new Error(`The registry refused the catalog of ${catalog.service}: ${refusalText(error)}`);
    }
  }
}

async function publishCatalog(registry: RegistryClient, { service, url }: Catalog): Promise<void> {
  const newest = await publishFirst(registry, { service, url });
  if (newest !== null && newest.config !== null && newest.config.url !== url) {
    const body = JSON.stringify({ ...newest.config, url });
    await registry.call(Service, pathTo("services", service), { method: "PUT", headers: JSON_BODY, body });
  }
}

/**
 * Applies a catalog whose service has no history. Otherwise changes nothing, and returns the newest revision.
 *
 * @param wait_ms how long to wait until all gateways serve the catalog
 */
export async function publishFirst(
  registry: RegistryClient,
  { service, url }: Catalog,
  wait_ms = 0,
): Promise<Revision | null> {
  const newest = await newestRevision(registry, service);
  if (newest !== null) return newest;
  const config = servicesOfYaml(await readFile(shippedFile(`seeds/${service}.yaml`), "utf8")).get(service);
  const body = JSON.stringify({ services: { [service]: { ...config, url } } });
  const query = { wait_ms: String(wait_ms) };
  await registry.call(Applied, pathTo("apply"), { method: "POST", query, headers: JSON_BODY, body });
  return null;
}

/** Returns the newest revision, or null for a service that was never published. */
async function newestRevision(registry: RegistryClient, service: string): Promise<Revision | null> {
  try {
    const { revisions } = await registry.call(Revisions, pathTo("services", service, "revisions"));
    return revisions[0] ?? null;
  } catch (error) {
    if (error instanceof Refused && error.envelope?.error.code === "NOT_FOUND") return null;
    throw error;
  }
}
