import { organizationEventSchema } from "@ostiary/lib/contracts/audit";
import { shellLiteral } from "@ostiary/lib/openapi";
import type { Static } from "@sinclair/typebox";
import { AUDIT, PERSON_AUDIT, type ViewPath } from "../address.ts";
import { type Caller, type Gateway, pathTo } from "../gateway.ts";
import type { WitnessSettings } from "../settings.ts";

/** An event of an organization's or a person's log, without the person's id, which the page does not show. */
export const ShownEvent = organizationEventSchema;
export type ShownEvent = Static<typeof ShownEvent>;

/** A log that a customer can read: the log of an organization, or the person's own log. */
export interface Log {
  readonly as: Caller;
  readonly path: string;
  readonly view: ViewPath;
}

export const ORGANIZATION_LOG: Log = {
  as: "member",
  path: pathTo("org", "audit-events"),
  view: AUDIT,
};
export const PERSON_LOG: Log = {
  as: "person",
  path: pathTo("user", "audit-events"),
  view: PERSON_AUDIT,
};

const PAGE_EVENTS = 50;

export function listEvents(
  gateway: Gateway,
  { as, path }: Log,
  query: Readonly<Record<string, string>>,
  starting_after: string | undefined,
  limit = PAGE_EVENTS,
) {
  return gateway.list("audit_events", ShownEvent, path, {
    as,
    query: { ...query, limit, starting_after },
  });
}

/** Returns the shell commands that verify a log as the page does, with the same owner and witnesses. */
export function commandOf(
  { as, path }: Pick<Log, "as" | "path">,
  owner: string,
  witnesses: WitnessSettings | null,
  origin: string,
): string {
  const credential = as === "member" ? "X-API-Key: $KEY" : "Authorization: Bearer $TOKEN";
  return [
    `curl -fsS -H "${credential}" \\`,
    `  "${origin}${path}/export?format=ndjson&proof=true" > log.ndjson`,
    ...(witnesses === null
      ? []
      : [`printf '%s\\n' ${witnesses.keys.map(shellLiteral).join(" ")} > witnesses.txt`]),
    `ostiary audit verify log.ndjson --owner ${shellLiteral(owner)}${optionsOf(witnesses)}`,
  ].join("\n");
}

function optionsOf(witnesses: WitnessSettings | null): string {
  return witnesses === null ? "" : ` --witness-keys witnesses.txt --quorum ${witnesses.quorum}`;
}
