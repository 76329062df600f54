import { VERSION } from "@ostiary/lib/runtime/version";
import { type EntryRow, streamEntry } from "./entry.ts";

/** The version of the Open Cybersecurity Schema Framework. */
export const OCSF_VERSION = "1.8.0";
const APPLICATION_ACTIVITY = 6;
const API_ACTIVITY = 6003;
const INFORMATIONAL = 1;
const ACTIVITIES: ReadonlyMap<string, { id: number; name: string }> = new Map([
  ["POST", { id: 1, name: "Create" }],
  ["GET", { id: 2, name: "Read" }],
  ["HEAD", { id: 2, name: "Read" }],
  ["PUT", { id: 3, name: "Update" }],
  ["PATCH", { id: 3, name: "Update" }],
  ["DELETE", { id: 4, name: "Delete" }],
]);
/** The methods that have a name in OCSF. */
const HTTP_METHODS: ReadonlySet<string> = new Set([
  "CONNECT",
  "DELETE",
  "GET",
  "HEAD",
  "OPTIONS",
  "PATCH",
  "POST",
  "PUT",
  "TRACE",
]);
const [UNKNOWN, SUCCESS, FAILURE] = [
  { id: 0, name: "Unknown" },
  { id: 1, name: "Success" },
  { id: 2, name: "Failure" },
];

/**
 * Returns the API Activity event of an entry (AU-106). Returns null for an entry without an event, and for an intent
 * whose event has its outcome.
 */
export function ocsfEvent({ organization_id }: { organization_id: string }, row: EntryRow) {
  const entry = streamEntry(row);
  if (!("event" in entry)) return null;
  // skip this intent: the event already has its outcome, whose entry follows with the same fields
  if (entry.kind === "intent" && row.event?.outcome !== "pending") return null;
  const { event, position, salt, chain, kind } = entry;
  const { method, route, service, request_id, status, params, actor } = event;
  const activity = ACTIVITIES.get(method) ?? { id: 99, name: method };
  const result = status === null ? UNKNOWN : status < 400 ? SUCCESS : FAILURE;
  return {
    activity_id: activity.id,
    activity_name: activity.name,
    actor: actorOf(actor),
    api: {
      operation: `${method} ${route}`,
      service: { name: service },
      request: { uid: request_id },
      ...(status !== null && { response: { code: status } }),
    },
    category_name: "Application Activity",
    category_uid: APPLICATION_ACTIVITY,
    class_name: "API Activity",
    class_uid: API_ACTIVITY,
    http_request: {
      ...(HTTP_METHODS.has(method) && { http_method: method }),
      uid: request_id,
      url: { path: route },
      ...(event.user_agent !== null && { user_agent: event.user_agent }),
    },
    ...(status !== null && { http_response: { code: status } }),
    message: `${method} ${route} ${status ?? event.outcome}`,
    metadata: metadataOf(event, position, organization_id),
    resources: [
      ...Object.entries(params).map(([name, uid]) => ({ name, uid })),
      ...(event.created_id === null ? [] : [{ name: "created", uid: event.created_id }]),
    ],
    severity: "Informational",
    severity_id: INFORMATIONAL,
    src_endpoint: { ip: event.ip },
    status: result.name,
    ...(status !== null && { status_code: String(status) }),
    status_detail: event.outcome,
    status_id: result.id,
    time: Date.parse(event.occurred_at),
    type_name: `API Activity: ${activity.id === 99 ? "Other" : activity.name}`,
    type_uid: API_ACTIVITY * 100 + activity.id,
    unmapped: { details: event.details, auth_type: actor.auth_type, kind, position, salt, chain },
  };
}

function metadataOf(event: { id: string; request_id: string }, position: number, organization_id: string) {
  return {
    correlation_uid: event.request_id,
    log_name: "audit",
    product: { name: "Ostiary", vendor_name: "Ostiary", version: VERSION },
    sequence: position,
    tenant_uid: organization_id,
    uid: event.id,
    version: OCSF_VERSION,
  };
}

interface Actor {
  member_id: string | null;
  auth_type: string;
  key_prefix: string | null;
}

/**
 * Returns the actor: the member as `user`. Without a member, returns the type of the credential as
 * `invoked_by`.
 */
function actorOf({ member_id, auth_type, key_prefix }: Actor) {
  if (member_id === null) return { invoked_by: auth_type };
  return {
    user: {
      type: "Unknown",
      type_id: 0,
      uid: member_id,
      ...(key_prefix !== null && { credential_uid: key_prefix }),
    },
  };
}
