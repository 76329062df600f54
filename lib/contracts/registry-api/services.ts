import { type Static, Type } from "@sinclair/typebox";
import { FieldError } from "../../domain/errors/index.ts";
import { ServiceName, StoredServiceConfig } from "../../domain/routes/index.ts";
import { mapOf, wholeField } from "../../domain/schemas/index.ts";
import { propagationField } from "./gateways.ts";

export const RevisionNumber = wholeField(
  1,
  "The revision number. The first write of a service has number 1.",
  3,
);

/** Returns a revision as an entity tag, for ETag and If-Match (RG-45, RG-54). */
export function revisionTag(revision: number): string {
  return `"${revision}"`;
}

/** Parses a revision number. Returns null if the text is not a revision number. */
export function parseRevision(text: string): number | null {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}

const serviceExamples = (StoredServiceConfig.examples ?? []).map((config: object) => ({
  name: "widgets",
  revision: 3,
  ...config,
}));

/** A current service with its name and revision, as GET, PUT and restore return it (RG-45). */
export const Service = Type.Object(
  { name: ServiceName, revision: RevisionNumber, ...StoredServiceConfig.properties },
  {
    title: "Service",
    examples: serviceExamples,
    description: "A current service in stored form, with its name and revision.",
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

export const WrittenService = Type.Object(
  { ...Service.properties, ...propagationField },
  {
    title: "WrittenService",
    examples: serviceExamples,
    description: "The current service and, with wait_ms, the progress of the write.",
    response_headers: Service.response_headers,
  },
);
export type WrittenService = Static<typeof WrittenService>;

/** Every current service (RG-59). */
export const Services = Type.Object(
  {
    services: mapOf(ServiceName, StoredServiceConfig, { description: "The services by name." }),
    unreadable: Type.Optional(
      mapOf(ServiceName, Type.Array(FieldError), {
        description:
          "The parts of configs that this version cannot read, by service name. Another version of Ostiary wrote these configs.",
      }),
    ),
  },
  {
    title: "ServiceList",
    description: "Every current service by name: a configuration document that can be applied unchanged.",
  },
);
export type Services = Static<typeof Services>;
