import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConfigDocument } from "@ostiary/lib/domain/routes";
import { parse } from "yaml";

/** Publishes catalogs through the registry's own admin API. */
export interface Publisher {
  registry_url: string;
  admin_token: string;
}

/** A catalog under `seeds/`, and where its one service really listens. */
export interface Catalog {
  service: string;
  url: string;
}

const SEEDS = join(import.meta.dir, "../../seeds");

/**
 * Applies each catalog whose service has no history. A service with history keeps what its operator made of
 * it; only its address is brought up to date, since ports may differ from start to start.
 */
export async function publishCatalogs(publisher: Publisher, catalogs: readonly Catalog[]): Promise<void> {
  for (const { service, url } of catalogs) {
    const history = await call(publisher, "GET", `/services/${service}/revisions`);
    if (history.status === 404) await applyCatalog(publisher, service, url);
    else await moveService(publisher, service, url);
  }
}

async function applyCatalog(publisher: Publisher, service: string, url: string): Promise<void> {
  const document: ConfigDocument = parse(await readFile(join(SEEDS, `${service}.yaml`), "utf8"));
  const config = document.services[service];
  const answer = await call(publisher, "POST", "/apply", { services: { [service]: { ...config, url } } });
  if (!answer.ok) throw new Error(`seeds/${service}.yaml was refused: ${await answer.text()}`);
}

async function moveService(publisher: Publisher, service: string, url: string): Promise<void> {
  const current = await call(publisher, "GET", `/services/${service}`);
  if (current.status === 404) return;
  const { name: _name, revision: _revision, ...config } = toObject(await current.json());
  if (config.url === url) return;
  const answer = await call(publisher, "PUT", `/services/${service}`, { ...config, url });
  if (!answer.ok) throw new Error(`The address of ${service} was refused: ${await answer.text()}`);
}

function toObject(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null)
    throw new Error("The registry did not answer with an object.");
  return { ...value };
}

function call(
  { registry_url, admin_token }: Publisher,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  return fetch(`${registry_url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${admin_token}`, "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
}
