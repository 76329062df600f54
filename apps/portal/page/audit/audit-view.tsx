import {
  Button,
  CopyButton,
  Empty,
  Facts,
  Loaded,
  type PageAddress,
  PagedRows,
  Route,
  replacePlace,
  Time,
  usePages,
  useRequest,
} from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { useAddress, useSession } from "../portal-session.ts";
import { useTexts } from "../texts/texts.ts";
import { actionKey, actionText } from "./action-text.ts";
import { EventTable, Outcome, useSummaries, Who } from "./event-table.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { FilterChips } from "./filter-chips.tsx";
import { type Log, listEvents, ORGANIZATION_LOG, PERSON_LOG, type ShownEvent } from "./logs.ts";
import { FILTERS, type Filters, filtersOf } from "./selection.ts";
import { VerifyView } from "./verify/verify-view.tsx";

export function AuditView({ place }: { place: PageAddress }) {
  return <LogView log={ORGANIZATION_LOG} place={place} />;
}

export function PersonAuditView({ place }: { place: PageAddress }) {
  return <LogView log={PERSON_LOG} place={place} />;
}

function LogView({ log, place }: { log: Log; place: PageAddress }) {
  const [page, request_id] = place.segments;
  if (page === "verify") return <VerifyView log={log} />;
  if (page === "events" && request_id !== undefined) return <EventView log={log} request_id={request_id} />;
  return <EventsView log={log} filters={filtersOf(Object.fromEntries(place.query))} />;
}

function EventsView({ log, filters }: { log: Log; filters: Filters }) {
  const t = useTexts().audit;
  const session = useSession();
  const address = useAddress();
  const [exporting, setExporting] = useState(false);
  const { key_prefix = "", ...query } = filters;
  const pages = usePages<ShownEvent>(
    (last) => listEvents(session.gateway, log, query, last?.id),
    ({ id }) => id,
    JSON.stringify([log.path, query]),
  );
  const found = pages.items.filter(({ actor }) => key_prefix === "" || actor.key_prefix === key_prefix);
  const choose = (chosen: Filters) =>
    replacePlace(address(log.view, { query: new URLSearchParams(filtersOf(chosen)) }));
  return (
    <>
      <p class="lead">{log === PERSON_LOG ? t.leadOfPerson : t.lead}</p>
      <p class="actions">
        <a class="button button-main" href={address(log.view, { segments: ["verify"] })}>
          {t.verify.link}
        </a>
        <Button onClick={() => setExporting(true)}>{t.export.open}</Button>
      </p>
      <FilterChips log={log} filters={filters} failure={pages.failure} onChoose={choose} />
      {pages.value !== null && key_prefix !== "" && (
        <p role="status">
          {t.ofKey(found.length, pages.items.length, key_prefix)} {!pages.has_more && t.wholeLog}
        </p>
      )}
      <PagedRows pages={pages} rows={found} shown={FILTERS}>
        {(events) => <EventTable log={log} events={events} />}
      </PagedRows>
      {exporting && <ExportDialog log={log} query={query} onClose={() => setExporting(false)} />}
    </>
  );
}

/** Shows all fields of the event of a request. A request has at most one event in a log. */
function EventView({ log, request_id }: { log: Log; request_id: string }) {
  const t = useTexts().audit;
  const session = useSession();
  const address = useAddress();
  const request = useRequest(() => listEvents(session.gateway, log, { request_id }, undefined), request_id);
  return (
    <>
      <p>
        <a href={address(log.view)}>{t.back}</a>
      </p>
      <Loaded request={request}>
        {({ items: [event] }) =>
          event === undefined ? <Empty title={t.noEvent} /> : <EventFacts log={log} event={event} />
        }
      </Loaded>
    </>
  );
}

function EventFacts({ log, event }: { log: Log; event: ShownEvent }) {
  const { audit: t, members } = useTexts();
  const summaries = useSummaries([event]);
  const { actor } = event;
  return (
    <section class="event" aria-label={t.event}>
      <h2>{actionText(event, t.actions, summaries) ?? t.call}</h2>
      <Facts
        facts={[
          [t.fields.call, <Route text={actionKey(event)} />],
          [t.columns.actor, <Who log={log} event={event} />],
          [t.columns.time, <Time at={event.occurred_at} />],
          [
            t.columns.outcome,
            <>
              <Outcome event={event} /> <span class="below quiet">{t.outcomeHelp[event.outcome]}</span>
            </>,
          ],
          [t.filters.service, event.service],
          [t.filters.key_prefix, actor.key_prefix],
          [members.id, actor.member_id],
          [t.fields.ip, event.ip],
          [t.fields.user_agent, event.user_agent],
          [t.filters.request_id, event.request_id],
          [t.filters.created_id, event.created_id],
          [t.event, event.id],
          ...Object.entries(event.params).map(([name, value]) => [t.param(name), value] as const),
        ]}
      />
      <EventLinks log={log} event={event} />
      {event.details !== null && (
        <>
          <h3>{t.fields.details}</h3>
          <pre class="wrapped">{JSON.stringify(event.details, null, 2)}</pre>
        </>
      )}
      <CopyButton text={JSON.stringify(event, null, 2)} label={t.copyEvent} />
    </section>
  );
}

function EventLinks({ log, event: { actor } }: { log: Log; event: ShownEvent }) {
  const t = useTexts().audit;
  const address = useAddress();
  const by: Record<string, string> = actor.member_id === null ? {} : { actor_member_id: actor.member_id };
  const to = (query: Record<string, string>) => address(log.view, { query: new URLSearchParams(query) });
  return (
    <ul class="links">
      {actor.key_prefix !== null && (
        <li>
          <a href={to({ ...by, key_prefix: actor.key_prefix })}>{t.sameKey}</a>
        </li>
      )}
      {actor.member_id !== null && (
        <li>
          <a href={to(by)}>{t.sameMember}</a>
        </li>
      )}
    </ul>
  );
}
