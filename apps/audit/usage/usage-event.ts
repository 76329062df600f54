import { UsageCount, usageSums } from "@ostiary/lib/contracts/usage-contract";
import { idField, timeField, ULID_EXAMPLE } from "@ostiary/lib/domain/schemas";
import { type Static, Type } from "@sinclair/typebox";
import {
  HOUR_MS,
  isPlatform,
  type KEY_COLUMNS,
  type PlatformServices,
  refusedOf,
  type Totals,
} from "./usage-columns.ts";

const { service, method, route, member_id, key_prefix } = UsageCount.properties;

const UsageEventData = Type.Object(
  {
    from: timeField("The start of the hour in which the requests began."),
    to: timeField("The end of that hour, exclusive."),
    service,
    method,
    route,
    member_id,
    key_prefix,
    platform: isPlatform,
    ...usageSums,
  },
  {
    additionalProperties: false,
    title: "Usage event data",
    description: "Numbers to add to the numbers of earlier events of the same hour, route and key.",
  },
);

/** An event of the usage feed (AU-129): a CloudEvent. */
export const UsageEvent = Type.Object(
  {
    specversion: Type.Literal("1.0", { description: "The version of CloudEvents." }),
    id: idField("Position in the feed; a later event has a larger id."),
    source: Type.Literal("ostiary/audit", { description: "The service that sends the event." }),
    type: Type.Literal("ostiary.usage.counted", { description: "The kind of event." }),
    subject: Type.String({ description: "The organization.", examples: [ULID_EXAMPLE] }),
    time: timeField("The start of the hour in which the requests began."),
    datacontenttype: Type.Literal("application/json", { description: "The form of `data`." }),
    data: UsageEventData,
  },
  {
    additionalProperties: false,
    title: "Usage event",
    description: "The usage of one organization in one hour, on one route and by one credential.",
  },
);
export type UsageEvent = Static<typeof UsageEvent>;

export type UsageEventRow = Totals & Record<"id" | (typeof KEY_COLUMNS)[number], string>;

export function toUsageEvent(
  { id, organization_id, hour, key_prefix, ...row }: UsageEventRow,
  platform: PlatformServices,
): UsageEvent {
  const startsMs = new Date(hour).getTime();
  const from = new Date(startsMs).toISOString();
  return {
    specversion: "1.0",
    id,
    source: "ostiary/audit",
    type: "ostiary.usage.counted",
    subject: organization_id,
    time: from,
    datacontenttype: "application/json",
    data: {
      from,
      to: new Date(startsMs + HOUR_MS).toISOString(),
      ...row,
      platform: platform.has(row.service),
      key_prefix: key_prefix === "" ? null : key_prefix,
      refused: refusedOf(row),
    },
  };
}
