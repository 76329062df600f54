import { type Static, Type } from "@sinclair/typebox";
import { FieldError } from "../../domain/errors/index.ts";
import { ServiceName, StoredServiceConfig } from "../../domain/routes/index.ts";
import { mapOf } from "../../domain/schemas/index.ts";
import { propagationField } from "./gateways.ts";

export const RevisionNumber = Type.Integer({
  minimum: 1,
  description: "Counts the writes of one service from 1.",
  examples: [3],
});

/** A revision as an entity tag, for ETag and If-Match (contract 3). */
export function revisionTag(revision: number): string {
  return `"${revision}"`;
}

/** The revision that a text is the number of; null when it can be none. */
export function parseRevision(text: string): number | null {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}

/** A current service with its name and revision, as GET, PUT and restore answer it (contract 3). */
export const Service = Type.Object(
  { name: ServiceName, revision: RevisionNumber, ...StoredServiceConfig.properties },
  {
    title: "Service",
    description: "A current service in expanded form, with its name and revision.",
    response_headers: {
      ETag: Type.String({
        pattern: '^"[1-9][0-9]*"$',
        description: "The revision in double quotes, for If-Match.",
        examples: ['"3"'],
      }),
    },
  },
);
export type Service = Static<typeof Service>;

/** A service as PUT and restore answer it. */
export const WrittenService = Type.Object(
  { ...Service.properties, ...propagationField },
  {
    title: "WrittenService",
    description: "The service as it is now and, with wait_ms, how far the write had come.",
    response_headers: Service.response_headers,
  },
);
export type WrittenService = Static<typeof WrittenService>;

/** Every current service (contract 3). */
export const Services = Type.Object(
  {
    services: mapOf(ServiceName, StoredServiceConfig, { description: "The services by name." }),
    invalid: Type.Optional(
      mapOf(ServiceName, Type.Array(FieldError), {
        description: "With invalid=true: what today's rules refuse of each of the services, by name.",
      }),
    ),
  },
  {
    title: "Services",
    description: "Every current service by name: a configuration document that can be applied as it is.",
  },
);
export type Services = Static<typeof Services>;
