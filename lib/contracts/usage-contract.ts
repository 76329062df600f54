/** The call with which a gateway reports the usage of organizations to audit (GW-186, AU-120). */
import { type Static, Type } from "@sinclair/typebox";
import {
  boundedText,
  countField,
  nullable,
  openShape,
  textField,
  timeField,
  ULID_EXAMPLE,
  wholeField,
} from "../domain/schemas/index.ts";
import { routeTemplate } from "./audit/index.ts";

export const USAGE_COUNTS_MAX = 1_000;
/** Room for the maximum number of counts with the longest texts. */
export const USAGE_BYTES_MAX = 4_194_304;
export const USAGE_QUOTAS_MAX = 500;
export const QUOTA_LOOKUPS_MAX = 100;
/** Room for the maximum number of quotas with the longest texts. */
export const QUOTA_LOOKUPS_BYTES_MAX = 1_048_576;
export const USAGE_ID_LENGTH_MAX = 128;
/** The maximum length of a bucket: a path with every character escaped, and the prefix before the path. */
const QUOTA_POLICY_LENGTH_MAX = 3_200;
export const USAGE_KEY_PREFIX_LENGTH_MAX = 64;
export const USAGE_INSTANCE_PATTERN = "^[A-Za-z0-9._-]{1,128}$";

/** The sums of usage. `refused` is the total of the three sums by reason. */
export const usageSums = {
  requests: countField("Requests of the organization, including refused requests.", 1200),
  refused: countField("Requests that the gateway refused, for any reason.", 8),
  refused_limit: countField("Requests that a limit refused with 429.", 7),
  refused_labels: countField("Requests that were refused with 403 for a missing label.", 1),
  refused_other: countField("Requests that the gateway refused for another reason.", 0),
  failed: countField("Requests that reached a service and ended in a 5xx or without a complete response.", 3),
  bytes_in: countField("Bytes of request bodies.", 52_000),
  bytes_out: countField("Bytes of the response bodies of services.", 8_400_000),
  duration_ms: countField(
    "Sum of the times from the arrival of each request to its end, in milliseconds.",
    31_000,
  ),
};

const { requests, refused_limit, refused_labels, refused_other, failed, bytes_in, bytes_out, duration_ms } =
  usageSums;

const usageTotals = {
  requests,
  refused: Type.Object(
    { limit: refused_limit, labels: refused_labels, other: refused_other },
    openShape("Usage refusals", "Requests that the gateway refused, by reason."),
  ),
  failed,
  bytes_in,
  bytes_out,
  duration_ms,
};

export const UsageCount = Type.Object(
  {
    organization_id: boundedText(USAGE_ID_LENGTH_MAX, "The id of the organization.", ULID_EXAMPLE),
    hour: Type.String({
      pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:00:00\\.000Z$",
      rule: "must be a full hour in UTC such as 2026-01-31T12:00:00.000Z",
      description: "The start of the hour in which the requests began.",
      examples: ["2026-01-31T12:00:00.000Z"],
    }),
    service: boundedText(USAGE_ID_LENGTH_MAX, "The service of the route.", "widgets"),
    route: routeTemplate,
    method: boundedText(16, "The method of the route.", "GET"),
    member_id: boundedText(
      USAGE_ID_LENGTH_MAX,
      "The id of the member who owns the credential.",
      ULID_EXAMPLE,
    ),
    key_prefix: nullable(
      boundedText(USAGE_KEY_PREFIX_LENGTH_MAX, "The first characters of the API key.", "ostiary-k-2-4f9m"),
      { description: "The first characters of the API key, or null for sessions." },
    ),
    ...usageTotals,
  },
  openShape("Usage count", "The sums of one credential on one route within one hour."),
);
export type UsageCount = Static<typeof UsageCount>;

/** The name of one subject's quota in one calendar period: the parts of its bucket's key (GW-67). */
export const QuotaName = Type.Object(
  {
    policy: Type.String({
      minLength: 1,
      maxLength: QUOTA_POLICY_LENGTH_MAX,
      pattern: "^[!-~]*$",
      rule: `must be the bucket of a limit, of 1 to ${QUOTA_POLICY_LENGTH_MAX} visible ASCII characters`,
      description: "The bucket of the limit, without its period and subject.",
      examples: ["local:widgets:quota"],
    }),
    period: Type.String({
      pattern: "^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$",
      rule: "must be a day such as 2026-01-31 or a month such as 2026-01",
      description: "The day or month in UTC.",
      examples: ["2026-01"],
    }),
    subject: boundedText(
      USAGE_ID_LENGTH_MAX,
      "The id of the organization, member or user, or the address of the client.",
      ULID_EXAMPLE,
    ),
  },
  openShape("Quota", "A quota of one subject in one calendar period."),
);
export type QuotaName = Static<typeof QuotaName>;

export const QuotaCharge = Type.Object(
  {
    ...QuotaName.properties,
    count: Type.Integer({
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "The requests that were charged, minus the refunded requests.",
      examples: [12],
    }),
    requests: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          "The number of requests that the quota admits, according to the organization's plan at the last charge.",
        examples: [1000],
      }),
    ),
  },
  openShape("Quota charge", "Requests that were charged to a quota since the previous report."),
);
export type QuotaCharge = Static<typeof QuotaCharge>;

export const OrganizationQuota = Type.Object(
  {
    policy: nullable(textField("The name of the policy.", "quota"), {
      description: "The name of the policy, or null for a limit that is written at a route.",
    }),
    service: nullable(textField("The service.", "widgets"), {
      description: "The service of the policy, or null for a shared policy and for a limit at a route.",
    }),
    method: nullable(textField("The method.", "GET"), {
      description: "The method of the route that has the limit, or null for a policy.",
    }),
    route: nullable(textField("The path.", "/org/widgets"), {
      description: "The path of the route that has the limit, or null for a policy.",
    }),
    period: Type.Union([Type.Literal("day"), Type.Literal("month")], { description: "The calendar period." }),
    from: timeField("The start of the period."),
    to: timeField("The end of the period, exclusive."),
    requests: nullable(wholeField(1, "The number of requests.", 1000), {
      description:
        "The number of requests that the quota admits, according to the organization's plan at the last request. Null if unknown.",
    }),
    charged: wholeField(
      0,
      "The number of requests charged so far. Charges that gateways have not reported yet are missing.",
      812,
    ),
  },
  {
    additionalProperties: false,
    title: "Organization quota",
    description: "An organization's quota in the current period.",
  },
);
export type OrganizationQuota = Static<typeof OrganizationQuota>;

export const QuotaLookup = Type.Object(
  {
    quotas: Type.Array(QuotaName, {
      minItems: 1,
      maxItems: QUOTA_LOOKUPS_MAX,
      description: "The quotas. The response has the same order.",
    }),
  },
  openShape("Quota lookup", "The quotas whose counts the gateway requests."),
);
export type QuotaLookup = Static<typeof QuotaLookup>;

export const QuotaCounts = Type.Object(
  {
    counts: Type.Array(
      wholeField(0, "The number of requests that gateways have reported as charged.", 1200),
      { description: "The count of each quota, in the order of the request." },
    ),
  },
  openShape("Quota counts", "The reported counts of quotas."),
);

export const UsageReport = Type.Object(
  {
    reported_until: Type.String({
      description: "All requests that ended before this time are reported. RFC 3339, UTC, milliseconds.",
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
      description: "The number of requests since the previous report that are missing from the counts.",
      examples: [0],
    }),
    counts: Type.Array(UsageCount, {
      maxItems: USAGE_COUNTS_MAX,
      description: "The counts. Two counts of the same hour, route and credential are added together.",
    }),
    quotas: Type.Optional(
      Type.Array(QuotaCharge, {
        maxItems: USAGE_QUOTAS_MAX,
        description: "The charges to quotas. If the same quota occurs twice, both charges are added.",
      }),
    ),
  },
  openShape("Usage report", "The usage of organizations since the previous report of the gateway."),
);
export type UsageReport = Static<typeof UsageReport>;
