import type { AuthType } from "@ostiary/lib/domain/credentials";
import { englishOf, type Finding } from "@ostiary/lib/verification/findings";
import { actions } from "./actions.ts";

/** The English texts of the audit log. */
export const audit = {
  title: "Audit log",
  titleOfPerson: "My audit log",
  lead: "The recorded requests to this organization, newest first.",
  leadOfPerson: "Your recorded requests outside of organizations, newest first.",
  event: "Event",
  events: "Events",
  back: "Back to the events",
  none: "No event matches. Clear the filters, or choose another time.",
  noEvent: "This log has no event for this request.",
  wholeLog: "The whole log has been searched.",
  ofKey: (shown: number, read: number, key: string) =>
    `${shown} of the ${read} events that were read so far are from the key ${key}.`,
  columns: { time: "Time", request: "What they did", actor: "Who", outcome: "Outcome" },
  you: "You",
  somebody: "Somebody",
  done: "done",
  failed: "failed",
  actions,
  call: "called the API",
  auth: (type: AuthType) => AUTH_TYPES[type],
  outcomes: { pending: "unknown", rejected: "refused", responded: "responded", no_response: "no response" },
  outcomeHelp: {
    pending: "The request may have changed data.",
    rejected: "The gateway responded without calling the service.",
    responded: "The service responded.",
    no_response: "The gateway called the service, but the service did not respond.",
  },
  fields: {
    call: "Call",
    ip: "IP address",
    user_agent: "User agent",
    details: "Details",
  },
  param: (name: string) => `Parameter ${name}`,
  sameKey: "What did this key do?",
  sameMember: "What did this member do?",
  copyEvent: "Copy the event as JSON",
  filters: {
    title: "Filter the events",
    time: "Time",
    anyTime: "any time",
    otherTime: "another range …",
    last: (range: string) => `last ${range}`,
    since: (time: string) => `from ${time}`,
    until: (time: string) => `until ${time}`,
    anybody: "everybody",
    action: "Action",
    more: "More filters",
    any: "any",
    occurred_after: "From",
    occurred_before: "Before",
    actor_member_id: "Person",
    service: "Service",
    method: "Method",
    route: "Route",
    outcome: "Outcome",
    request_id: "Request",
    created_id: "Id of the created resource",
    key_prefix: "Key",
    keyHelp: "The beginning of a key, as shown in the list of keys.",
    show: "Show events",
    clear: "Clear the filters",
  },
  export: {
    open: "Export …",
    title: "Export the audit log",
    whole: "The file contains every event of the log.",
    filtered: "The file contains every event that matches the filters.",
    format: "Format",
    formats: { csv: "CSV, for spreadsheets", ndjson: "NDJSON, one event on each line" },
    start: "Export",
    running: "Exporting …",
    cancel: "Stop the export",
    progress: (kib: string) => `${kib} KiB so far.`,
    saved: "The export is complete.",
    failed: "The export is not complete, and nothing was saved",
  },
  verify: {
    link: "Verify the log",
    lead: "Your browser reads the whole log with its proof, and makes all checks itself.",
    insecure: "Browsers verify signatures only on pages that use https. Open this page with https.",
    kept: "An earlier copy, if you kept one",
    keptHelp: "A root that you saved from this page, or an earlier export with proof.",
    start: "Verify now",
    running: "Verifying …",
    cancel: "Stop",
    progress: (events: string, kib: string) => `${events} events are checked (${kib} KiB).`,
    verdict: "Result of the verification",
    complete: ({ value, text }: { value: number; text: string }, span: { from: string; to: string } | null) =>
      `${value === 1 ? "The 1 event" : `All ${text} events`}${span === null ? "" : ` from ${span.from} to ${span.to}`} ${value === 1 ? "is" : "are"} complete and unaltered.`,
    undecided: (
      { value, text }: { value: number; text: string },
      span: { from: string; to: string } | null,
    ) =>
      `Undecided: nothing is wrong with ${text} ${value === 1 ? "event" : "events"}${span === null ? "" : ` from ${span.from} to ${span.to}`}, but the files do not prove completeness.`,
    seenBy: ({ value, text }: { value: number; text: string }, names: string) =>
      `Seen by ${text} ${value === 1 ? "witness" : "witnesses"}: ${names}.`,
    altered: "The log differs from what was sealed.",
    more: (count: string) => `And ${count} more.`,
    entries: (count: string) =>
      `The log has ${count} entries: one for each request, and one for its outcome.`,
    pending: (count: string) => `Events without a known outcome: ${count}.`,
    root: (origin: string, size: string, time: string) =>
      `The signed root of ${origin} with size ${size} covers the log up to ${time}.`,
    signed: "It is signed by the key",
    keyOfFile: "(only the export itself names this key, and you have not confirmed it).",
    continues: (size: string) => `The log continues the copy that you kept, with size ${size}.`,
    dropped: (count: string, month: string) =>
      `${count} entries up to the month ${month} were dropped, as the log declares; only their hashes are left.`,
    restart: (time: string, from: string) =>
      `On ${time} an operator declared that entries from position ${from} cannot be restored.`,
    earlierTree: (time: string, origin: string) =>
      `On ${time} an operator restarted the log, which was ${origin} before. Events that were sealed there may be missing or changed.`,
    finding: (finding: Finding) => englishOf(finding),
    keepTitle: "Keep a copy",
    keepHelp:
      "Keep this small file outside of this service. With it, a later verification shows that nothing up to this root was changed or cut off.",
    keep: (number: string) => `Save root ${number}`,
    command: "The same on the command line",
    failed: {
      kept: "The file contains neither a signed root nor an export with proof. Choose another file.",
      broken: "The response is not an export of a log. Try again.",
      unavailable: "The export did not arrive completely, so the log could not be verified. Try again.",
    },
  },
};

const AUTH_TYPES: Record<AuthType, string> = {
  jwt: "signed in",
  user_apikey: "personal key",
  member_apikey: "key",
  member_session: "in the portal",
};
