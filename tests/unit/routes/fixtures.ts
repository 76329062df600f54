import {
  type RouteTable,
  type StoredServiceConfig,
  validateDocument,
  validateService,
} from "@ostiary/lib/domain/routes";
import { buildRouteTable } from "../../support/gateway/route-tables.ts";

/** Returns a service of one scope with routes as an operator writes them. */
export function serviceWith(scope: string, routes: readonly unknown[], more: object = {}): object {
  return { url: "http://widgets:8080", [scope]: { routes }, ...more };
}

/** Returns a public service with a GET route on each path. */
export function pathsService(...paths: string[]): object {
  return serviceWith(
    "public",
    paths.map((path) => ({ path, methods: ["GET"] })),
  );
}

/** Returns the expanded form of a service that must be valid. */
export function stored(config: unknown): StoredServiceConfig {
  const result = validateService("widgets", config);
  if (!result.ok) throw new Error(`Not valid: ${JSON.stringify(result.fields)}`);
  return result.service;
}

/** Returns the expanded services of a document that must be valid. */
export function storedServices(services: Record<string, unknown>): Map<string, StoredServiceConfig> {
  const result = validateDocument({ services });
  if (!result.ok) throw new Error(`Not valid: ${JSON.stringify(result.fields)}`);
  return result.services;
}

/** Returns the route table of one valid service. */
export function tableOf(config: unknown): RouteTable {
  return buildRouteTable([["widgets", stored(config)]]);
}
