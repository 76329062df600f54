import { organizationEventSchema } from "@ostiary/lib/contracts/audit";
import { shellLiteral } from "@ostiary/lib/openapi";
import type { Static } from "@sinclair/typebox";
import { callerOf, type Gateway, pathTo } from "../gateway.ts";
import { AUDIT, PERSON_AUDIT, type ViewPath } from "../portal-address.ts";
import type { WitnessSettings } from "../settings.ts";

/** An event of an organization's or a person's log, without the person's id, which the page does not show. */
export const ShownEvent = organizationEventSchema;
export type ShownEvent = Static<typeof ShownEvent>;

/** A log that a customer can read: the log of an organization, or the person's own log. */
export interface Log {
  readonly path: string;
  readonly view: ViewPath;
}

export const ORGANIZATION_LOG: Log = { path: pathTo("org", "audit-events"), view: AUDIT };
export const PERSON_LOG: Log = { path: pathTo("user", "audit-events"), view: PERSON_AUDIT };

const PAGE_EVENTS = 50;

export function listEvents(
  gateway: Gateway,
  { path }: Log,
  query: Readonly<Record<string, string>>,
  starting_after: string | undefined,
  limit = PAGE_EVENTS,
) {
  return gateway.list("audit_events", ShownEvent, path, { ...query, limit, starting_after });
}

/** Returns the shell commands that verify a log as the page does, with the same owner and witnesses. */
export function commandOf(
  path: string,
  owner: string,
  witnesses: WitnessSettings | null,
  origin: string,
): string {
  const credential = callerOf(path) === "member" ? "X-API-Key: $KEY" : "Authorization: Bearer $TOKEN";
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
