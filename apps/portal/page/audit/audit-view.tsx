import {
  Button,
  DataTable,
  Empty,
  FailureNotice,
  Loading,
  type Place,
  replacePlace,
  Time,
} from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { useAddress, useSession } from "../page-session.ts";
import { More } from "../parts/more.tsx";
import { usePages } from "../parts/use-pages.ts";
import { useTexts } from "../texts/texts.ts";
import { EventView } from "./event-view.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { FilterForm } from "./filter-form.tsx";
import { FILTERS, placeQueryOf, queryOf, type Selection, selectionOf } from "./filters.ts";
import { type Log, listEvents, ORGANIZATION_LOG, PERSON_LOG, type ShownEvent } from "./logs.ts";
import { Outcome } from "./outcome.tsx";
import { VerifyView } from "./verify/verify-view.tsx";

export function AuditView({ place }: { place: Place }) {
  return <LogView log={ORGANIZATION_LOG} place={place} />;
}

export function PersonAuditView({ place }: { place: Place }) {
  return <LogView log={PERSON_LOG} place={place} />;
}

function LogView({ log, place }: { log: Log; place: Place }) {
  const [page, request_id] = place.segments;
  if (page === "verify") return <VerifyView log={log} />;
  if (page === "events" && request_id !== undefined) return <EventView log={log} request_id={request_id} />;
  return <EventsView log={log} selection={selectionOf(place.query)} />;
}

function EventsView({ log, selection }: { log: Log; selection: Selection }) {
  const t = useTexts().audit;
  const session = useSession();
  const address = useAddress();
  const [exporting, setExporting] = useState(false);
  const query = queryOf(selection.filters);
  const pages = usePages(
    (after) => listEvents(session.gateway, log, query, after),
    JSON.stringify([log.path, query]),
  );
  const choose = (chosen: Selection) =>
    replacePlace(address(log.view, { query: new URLSearchParams(placeQueryOf(chosen)) }));
  return (
    <>
      <p class="lead">{log.as === "member" ? t.lead : t.leadOfPerson}</p>
      <p class="actions">
        <a class="button button-main" href={address(log.view, { segments: ["verify"] })}>
          {t.verify.link}
        </a>
        <Button onClick={() => setExporting(true)}>{t.export.open}</Button>
      </p>
      <FilterForm selection={selection} failure={pages.failure} onChoose={choose} />
      {pages.failure !== null && (
        <FailureNotice failure={pages.failure} shown={FILTERS} onRetry={pages.again} />
      )}
      {!pages.answered && pages.loading && <Loading />}
      {pages.answered && <EventList log={log} pages={pages} key_prefix={selection.key_prefix} />}
      {exporting && <ExportDialog log={log} query={query} onClose={() => setExporting(false)} />}
    </>
  );
}

interface EventListProps {
  log: Log;
  pages: ReturnType<typeof usePages<ShownEvent>>;
  key_prefix: string;
}

/** Lists the loaded events. If `key_prefix` is not empty, lists only the loaded events of that key. */
function EventList({ log, pages, key_prefix }: EventListProps) {
  const t = useTexts().audit;
  const address = useAddress();
  const shown =
    key_prefix === "" ? pages.items : pages.items.filter(({ actor }) => actor.key_prefix === key_prefix);
  return (
    <>
      {key_prefix !== "" && (
        <p role="status">
          {t.ofKey(shown.length, pages.items.length, key_prefix)} {!pages.has_more && t.wholeLog}
        </p>
      )}
      {shown.length === 0 ? (
        <Empty title={t.none} />
      ) : (
        <DataTable
          label={t.events}
          columns={[t.columns.time, t.columns.request, t.columns.actor, t.columns.outcome]}
          rows={shown.map((event) => ({
            key: event.id,
            cells: [
              <a href={address(log.view, { segments: ["events", event.request_id] })}>
                <Time at={event.occurred_at} />
              </a>,
              <code>
                {event.method} {event.route}
              </code>,
              <ActorCell event={event} />,
              <Outcome event={event} />,
            ],
          }))}
        />
      )}
      {pages.has_more && <More loading={pages.loading} onMore={pages.more} />}
    </>
  );
}

function ActorCell({ event: { actor } }: { event: ShownEvent }) {
  const t = useTexts().audit;
  return <>{actor.key_prefix === null ? t.auth(actor.auth_type) : <code>{actor.key_prefix}</code>}</>;
}
