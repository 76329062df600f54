import { organizationEventSchema } from "@ostiary/lib/contracts/audit";
import type { Static } from "@sinclair/typebox";
import { type Caller, type Gateway, pathTo } from "../gateway.ts";

/** An event of an organization's log or of a person's own log. Omits the person's id, which the page does not show. */
export const ShownEvent = organizationEventSchema;
export type ShownEvent = Static<typeof ShownEvent>;

/** A log that a customer can read: an organization's, or a person's own. */
export interface Log {
  readonly as: Caller;
  readonly path: string;
  readonly view: { readonly path: string; readonly scope: "organization" | "person" };
}

export const ORGANIZATION_LOG: Log = {
  as: "member",
  path: pathTo("org", "audit-events"),
  view: { path: "audit", scope: "organization" },
};
export const PERSON_LOG: Log = {
  as: "person",
  path: pathTo("user", "audit-events"),
  view: { path: "my-audit", scope: "person" },
};

/** The label that reading an organization's log needs. */
export const AUDIT_LABEL = "org:audit:read";

/** The number of events in one page. */
const PAGE_EVENTS = 50;

export function listEvents(
  gateway: Gateway,
  { as, path }: Log,
  query: Readonly<Record<string, string>>,
  starting_after: string | undefined,
) {
  return gateway.list("audit_events", ShownEvent, path, {
    as,
    query: { ...query, limit: PAGE_EVENTS, starting_after },
  });
}
