import { SERVICES } from "./catalog.ts";

export type LoadName = "64" | "200" | "400" | "services";

export interface Load {
  readonly name: LoadName;
  readonly title: string;
  readonly clients: number;
  readonly services: number;
}

export const LOADS: readonly Load[] = [
  { name: "64", title: "64 clients, 1 service", clients: 64, services: 1 },
  { name: "200", title: "200 clients, 1 service", clients: 200, services: 1 },
  { name: "400", title: "400 clients, 1 service", clients: 400, services: 1 },
  { name: "services", title: `64 clients, ${SERVICES} services`, clients: 64, services: SERVICES },
];
