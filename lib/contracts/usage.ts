/** The call by which a gateway tells audit what organizations used (GW-186, AU-120). Both services use this contract. */
import { type Static, Type } from "@sinclair/typebox";
import { nullable, ULID_EXAMPLE } from "../domain/schemas/index.ts";
import { usageSums } from "../domain/usage/index.ts";
import { routeTemplate } from "./audit/index.ts";

/** The maximum number of counts in one report. */
export const USAGE_COUNTS_MAX = 1_000;
/** The size limit of a report: the largest number of counts with the longest texts. */
export const USAGE_BYTES_MAX = 4_194_304;
export const USAGE_ID_LENGTH_MAX = 128;
export const USAGE_KEY_PREFIX_LENGTH_MAX = 64;
/** The pattern of the instance that reports, as a gateway names itself. */
export const USAGE_INSTANCE_PATTERN = "^[A-Za-z0-9._-]{1,128}$";

const text = (description: string, maxLength: number, example: string) =>
  Type.String({ minLength: 1, maxLength, description, examples: [example] });

/** Returns the options of a schema that ignores unknown fields, because a newer gateway can send more. */
const open = (title: string, description: string) => ({ additionalProperties: true, title, description });

const { requests, refused_limit, refused_labels, refused_other, failed, bytes_in, bytes_out, duration_ms } =
  usageSums;

/** The numbers that are counted. */
export const usageTotals = {
  requests,
  refused: Type.Object(
    { limit: refused_limit, labels: refused_labels, other: refused_other },
    open("Usage refusals", "Requests that reached no service, by reason."),
  ),
  ...{ failed, bytes_in, bytes_out, duration_ms },
};

/** The sums of one credential on one route within one hour. */
export const UsageCount = Type.Object(
  {
    organization_id: text("The organization.", USAGE_ID_LENGTH_MAX, ULID_EXAMPLE),
    hour: Type.String({
      pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:00:00\\.000Z$",
      rule: "must be a full hour in UTC such as 2026-01-31T12:00:00.000Z",
      description: "The start of the hour in which the requests began.",
      examples: ["2026-01-31T12:00:00.000Z"],
    }),
    service: text("The service that the route belongs to.", USAGE_ID_LENGTH_MAX, "widgets"),
    route: routeTemplate,
    method: text("The method of the route.", 16, "GET"),
    member_id: text("The member whose credential it was.", USAGE_ID_LENGTH_MAX, ULID_EXAMPLE),
    key_prefix: nullable(
      text("The first characters of the API key.", USAGE_KEY_PREFIX_LENGTH_MAX, "ostiary-k-2-4f9m"),
      { description: "The first characters of the API key, or null for sessions." },
    ),
    ...usageTotals,
  },
  open("Usage count", "The sums of one credential on one route within one hour."),
);
export type UsageCount = Static<typeof UsageCount>;

/** A report of a gateway: what ended since its report before. */
export const UsageReport = Type.Object(
  {
    reported_until: Type.String({
      description: "Everything that ended before this time is reported. RFC 3339, UTC, milliseconds.",
      examples: ["2026-01-31T12:00:10.000Z"],
      openapi: { format: "date-time" },
    }),
    is_last: Type.Boolean({
      description: "Whether the gateway has stopped and sends no further report.",
      examples: [false],
    }),
    uncounted: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "Requests since the report before for which the gateway had no room.",
      examples: [0],
    }),
    counts: Type.Array(UsageCount, {
      maxItems: USAGE_COUNTS_MAX,
      description: "The counts. A combination that occurs twice counts twice.",
    }),
  },
  open("Usage report", "What organizations used since the gateway's report before."),
);
export type UsageReport = Static<typeof UsageReport>;
