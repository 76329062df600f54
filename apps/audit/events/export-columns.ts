import type { UserEvent } from "@ostiary/lib/contracts/audit";
import type { Cell, ExportForm } from "../exports/formats.ts";
import { type EventLog, shownIn } from "./event.ts";

/** Returns the export form of the events of a log (AU-43, AU-44). */
export function eventForm(log: EventLog): ExportForm<UserEvent> {
  const columns = log.kind === "user" ? userColumns : organizationColumns;
  return {
    name: EXPORT_NAME,
    columns,
    cells: (event) => columns.map((column) => csvCells[column](event)),
    shown: (event) => shownIn(log, event),
  };
}

/** The file name of an exported log, without its extension. */
export const EXPORT_NAME = "audit-events";

const csvCells = {
  id: (event) => event.id,
  occurred_at: (event) => event.occurred_at,
  request_id: (event) => event.request_id,
  organization_id: (event) => event.organization_id,
  user_id: (event) => event.user_id,
  actor_member_id: (event) => event.actor.member_id,
  actor_auth_type: (event) => event.actor.auth_type,
  actor_key_prefix: (event) => event.actor.key_prefix,
  service: (event) => event.service,
  method: (event) => event.method,
  route: (event) => event.route,
  params: (event) => JSON.stringify(event.params),
  ip: (event) => event.ip,
  user_agent: (event) => event.user_agent,
  outcome: (event) => event.outcome,
  status: (event) => event.status,
  details: (event) => (event.details === null ? null : JSON.stringify(event.details)),
  created_id: (event) => event.created_id,
} satisfies Record<string, (event: UserEvent) => Cell>;

type CsvColumn = keyof typeof csvCells;
const userColumns = Object.keys(csvCells).filter((name): name is CsvColumn => name in csvCells);
const organizationColumns = userColumns.filter((name) => name !== "user_id");
