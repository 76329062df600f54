import { OrganizationQuota } from "@ostiary/lib/contracts/usage";
import { timeField, ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import { usageSums } from "@ostiary/lib/domain/usage";
import { pageSchema } from "@ostiary/lib/runtime/http";
import { type Static, Type } from "@sinclair/typebox";
import { isPlatform, type PlatformServices } from "./platform-services.ts";
import { HOUR_MS, refusedOf, type Totals } from "./totals.ts";

/** The ways to group usage. */
export const DIVISIONS = ["hour", "day", "service", "route", "key"] as const;
export type Division = (typeof DIVISIONS)[number];

/** An item of an organization's usage, as the API returns it. */
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

/** The row of an item of usage. */
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
