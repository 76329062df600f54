import { OrganizationQuota, usageSums } from "@ostiary/lib/contracts/usage-contract";
import { timeField, ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import { listItems, textOr } from "@ostiary/lib/runtime/config";
import { pageSchema } from "@ostiary/lib/runtime/http";
import { type Static, type TString, Type } from "@sinclair/typebox";
import type { ExportForm } from "../exports/formats.ts";

export const HOUR_MS = 3_600_000;

/** The columns that identify a count, in the order of its key. */
export const KEY_COLUMNS = [
  "organization_id",
  "hour",
  "service",
  "route",
  "method",
  "member_id",
  "key_prefix",
] as const;

export const TOTAL_COLUMNS = [
  "requests",
  "refused_limit",
  "refused_labels",
  "refused_other",
  "failed",
  "bytes_in",
  "bytes_out",
  "duration_ms",
] as const;

export type Totals = Record<(typeof TOTAL_COLUMNS)[number], number>;

export function refusedOf({ refused_limit, refused_labels, refused_other }: Totals): number {
  return refused_limit + refused_labels + refused_other;
}

/** Names of services that Ostiary itself publishes, such as the portal. Nobody bills calls of these services. */
export type PlatformServices = ReadonlySet<string>;

const NAME = /^[A-Za-z0-9._-]{1,128}$/;

/** The variable that names the platform's services in usage. */
export const platformServicesVariable: { PLATFORM_SERVICES: TString } = {
  PLATFORM_SERVICES: textOr(
    "audit,audit-staff,identity,identity-staff,portal,registry",
    "must be names of services, separated by commas",
    {
      check: (text) => listItems(text).length > 0 && listItems(text).every((name) => NAME.test(name)),
      description:
        "The services of Ostiary's own catalogs. Usage marks their requests, and leaves them out unless a reader asks for them.",
    },
  ),
};

export function platformServices({ PLATFORM_SERVICES }: { PLATFORM_SERVICES: string }): PlatformServices {
  return new Set(listItems(PLATFORM_SERVICES));
}

/** The mark of the platform's services, which items of usage and usage events share. */
export const isPlatform = Type.Boolean({
  description: "Whether the service is one of Ostiary's own, such as the portal: do not bill its requests.",
  examples: [false],
});

export const DIVISIONS = ["hour", "day", "service", "route", "key"] as const;
export type Division = (typeof DIVISIONS)[number];

export const Usage = Type.Object(
  {
    id: Type.String({
      description: "The id of this item within the list, for `starting_after`.",
      examples: ["2026-01-31T00:00:00.000Z"],
    }),
    from: timeField("The start of the counted period."),
    to: timeField("The end of the counted period, exclusive."),
    service: Type.Optional(
      Type.String({ description: "The service, if `by` is service or route.", examples: ["widgets"] }),
    ),
    method: Type.Optional(Type.String({ description: "The method, if `by` is route.", examples: ["GET"] })),
    route: Type.Optional(
      Type.String({ description: "The path template, if `by` is route.", examples: ["/org/widgets"] }),
    ),
    member_id: Type.Optional(
      Type.String({ description: "The member, if `by` is key.", examples: [ULID_EXAMPLE] }),
    ),
    key_prefix: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          "The first characters of the member's API key, if `by` is key. Null for the member's sessions.",
        examples: ["ostiary-k-2-4f9m"],
      }),
    ),
    platform: Type.Optional({
      ...isPlatform,
      description: `${isPlatform.description} Present if \`by\` is service or route.`,
    }),
    ...usageSums,
  },
  {
    additionalProperties: false,
    title: "Usage",
    description: "The usage of an organization in an hour or a day, or of a service, a route or a key.",
  },
);
export type Usage = Static<typeof Usage>;

/** A gateway that stopped reporting without a final report. */
const UsageGap = Type.Object(
  { after: timeField("The time of the gateway's last report.") },
  {
    additionalProperties: false,
    title: "Usage gap",
    description:
      "A gateway ended without its final report, or cannot reach the audit service. Requests that it finished after this time may be missing.",
  },
);

const UsageList = pageSchema("usage", Usage);

/** A page of usage, the gateways whose reports may be missing from the page, and the quotas. */
export const UsagePage = Type.Object(
  {
    ...UsageList.properties,
    gaps: Type.Array(UsageGap, {
      description:
        "Gateways whose reports for the requested time may be incomplete. At most 100, oldest first.",
    }),
    quotas: Type.Array(OrganizationQuota, {
      description:
        "Quotas of the organization that were charged in the current day or month, whatever time is requested. At most 100; the quota with the least left comes first.",
    }),
  },
  { additionalProperties: false, title: "Usage list", description: "A page of usage." },
);

export interface UsageRow
  extends Totals,
    Partial<Record<"service" | "method" | "route" | "member_id" | "key_prefix", string>> {
  key: string;
}

/** A time range in epoch milliseconds, the end exclusive. */
export interface UsageRange {
  fromMs: number;
  toMs: number;
}

const LENGTH_MS: Partial<Record<Division, number>> = { hour: HOUR_MS, day: 24 * HOUR_MS };

/**
 * Returns an item as the API shows it. Days and hours have their own time range. Other items have the
 * requested range.
 */
export function toUsage(
  { key, key_prefix, ...row }: UsageRow,
  by: Division,
  range: UsageRange,
  platform: PlatformServices,
): Usage {
  const lengthMs = LENGTH_MS[by];
  const startsMs = lengthMs === undefined ? range.fromMs : new Date(key).getTime();
  const endsMs = lengthMs === undefined ? range.toMs : startsMs + lengthMs;
  const from = new Date(startsMs).toISOString();
  return {
    id: lengthMs === undefined ? key : from,
    from,
    to: new Date(endsMs).toISOString(),
    ...row,
    ...(row.service !== undefined && { platform: platform.has(row.service) }),
    ...(key_prefix !== undefined && { key_prefix: key_prefix === "" ? null : key_prefix }),
    refused: refusedOf(row),
  };
}

/** The columns that identify an item of usage, in addition to its time. */
export const NAMED_BY = {
  hour: [],
  day: [],
  service: ["service"],
  route: ["service", "method", "route"],
  key: ["member_id", "key_prefix"],
} as const satisfies Readonly<Record<Division, readonly (keyof Usage)[]>>;

function cell(value: Usage[keyof Usage]) {
  return typeof value === "boolean" ? String(value) : (value ?? null);
}

const isSum = (name: string): name is keyof typeof usageSums => name in usageSums;
/** The names of the sums, in the order of the columns. */
const SUM_NAMES = Object.keys(usageSums).filter(isSum);

/** Returns the export form of usage. Its columns are the fields of an item (AU-114). */
export function usageForm(by: Division): ExportForm<Usage> {
  const named: readonly (keyof Usage)[] = NAMED_BY[by];
  const marks: readonly (keyof Usage)[] = named.includes("service") ? ["platform"] : [];
  const columns = ["id", "from", "to", ...named, ...marks, ...SUM_NAMES] as const;
  return {
    name: "usage",
    columns,
    cells: (usage) => columns.map((column) => cell(usage[column])),
    shown: (usage) => usage,
  };
}
