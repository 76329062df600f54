import { DataTable, Empty, Route, succeeded, Time, useRequest } from "@ostiary/lib/page";
import { PersonName, usePeople } from "../people/person-name.tsx";
import { MEMBERS } from "../portal-address.ts";
import { useAddress, useSession } from "../portal-session.ts";
import { fetchDescription } from "../reference/description.ts";
import { useTexts } from "../texts/texts.ts";
import { actionKey, actionText, isDone } from "./action-text.ts";
import { type Log, PERSON_LOG, type ShownEvent } from "./logs.ts";

export function EventTable({ log, events }: { log: Log; events: readonly ShownEvent[] }) {
  const t = useTexts().audit;
  const address = useAddress();
  const summaries = useSummaries(events);
  return (
    <DataTable
      label={t.events}
      none={<Empty title={t.none} />}
      columns={[t.columns.actor, t.columns.request, t.columns.outcome, t.columns.time]}
      rows={events.map((event) => ({
        key: event.id,
        cells: [
          <Who log={log} event={event} />,
          <>
            <a class="name" href={address(log.view, { segments: ["events", event.request_id] })}>
              {actionText(event, t.actions, summaries) ?? t.call}
            </a>
            <span class="below quiet">
              <Route text={actionKey(event)} />
            </span>
          </>,
          <Outcome event={event} />,
          <Time at={event.occurred_at} />,
        ],
      }))}
    />
  );
}

/**
 * Returns the summaries of operations by method and path. Reads the edge description only if an event is of a
 * service that the page has no words for.
 */
export function useSummaries(events: readonly ShownEvent[]): ReadonlyMap<string, string> {
  const { gateway } = useSession();
  const { known } = useTexts().audit.actions;
  const isNeeded = events.some((event) => !Object.hasOwn(known, actionKey(event)));
  const { value } = useRequest(
    async () => (isNeeded ? fetchDescription(gateway) : succeeded(null)),
    String(isNeeded),
  );
  return new Map(value?.operations.map(({ method, path, summary }) => [`${method} ${path}`, summary]));
}

/** Shows who made a request: the member, or in a person's own log the reader. Names the credential below. */
export function Who({ log, event: { actor } }: { log: Log; event: ShownEvent }) {
  const { audit: t, members } = useTexts();
  const session = useSession();
  const address = useAddress();
  const { member_id, auth_type, key_prefix } = actor;
  const isOwn = log === PERSON_LOG;
  const member = usePeople([isOwn ? null : member_id]).get(member_id ?? "");
  const isAccount = member?.principal === "service_account";
  return (
    <>
      {member_id !== null && !isOwn ? (
        <a class="name" href={address(MEMBERS, { segments: [member_id] })}>
          <PersonName member={member ?? { id: member_id, display_name: null }} />
        </a>
      ) : (
        <span class="name">{isOwn ? (session.person.value?.name ?? t.you) : t.somebody}</span>
      )}
      <span class="below quiet">
        {isAccount && `${members.principal.service_account}, `}
        {t.auth(auth_type)}{" "}
        {auth_type !== "member_session" && key_prefix !== null && <code>{key_prefix}</code>}
      </span>
    </>
  );
}

export function Outcome({ event }: { event: ShownEvent }) {
  const t = useTexts().audit;
  const { outcome, status } = event;
  const done = isDone(event);
  return (
    <span class={done ? "tag tone-good" : outcome === "pending" ? "tag tone-warn" : "tag tone-bad"}>
      {done ? t.done : outcome === "responded" ? t.failed : t.outcomes[outcome]}
      {status !== null && ` (${status})`}
    </span>
  );
}
