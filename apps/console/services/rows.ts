import { countRoutes, SCOPES, type Scope } from "@ostiary/lib/domain/routes";
import type { Services } from "../routes/rows.ts";

export interface ServiceRow {
  readonly name: string;
  readonly url: string;
  /** The number of routes of each scope; each method of a path is a route. */
  readonly counts: Readonly<Record<Scope, number>>;
  readonly text: string;
}

export function serviceRows(services: Services): ServiceRow[] {
  return Object.entries(services)
    .map(([name, config]) => {
      const counts = { public: 0, user: 0, organization: 0, member: 0 };
      for (const scope of SCOPES) counts[scope] = countRoutes(config[scope]?.routes ?? []);
      return { name, url: config.url, counts, text: `${name}\n${config.url}`.toLowerCase() };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
