import { Answered, CopyButton, Empty, Fact, Time, useAsked } from "@ostiary/lib/page";
import { useAddress, useSession } from "../page-session.ts";
import { useTexts } from "../texts/texts.ts";
import { type Log, listEvents, type ShownEvent } from "./logs.ts";
import { Outcome } from "./outcome.tsx";

/** Shows all fields of the event of a request. A request has at most one event in a log. */
export function EventView({ log, request_id }: { log: Log; request_id: string }) {
  const t = useTexts().audit;
  const session = useSession();
  const address = useAddress();
  const asked = useAsked(() => listEvents(session.gateway, log, { request_id }, undefined), request_id);
  return (
    <>
      <p>
        <a href={address(log.view)}>{t.back}</a>
      </p>
      <Answered asked={asked}>
        {({ items: [event] }) =>
          event === undefined ? <Empty title={t.noEvent} /> : <EventFacts log={log} event={event} />
        }
      </Answered>
    </>
  );
}

function EventFacts({ log, event }: { log: Log; event: ShownEvent }) {
  const t = useTexts().audit;
  const { actor } = event;
  return (
    <section aria-label={t.event}>
      <h2>
        <code>
          {event.method} {event.route}
        </code>
      </h2>
      <dl class="facts">
        <Fact name={t.fields.occurred_at}>
          <Time at={event.occurred_at} />
        </Fact>
        <Fact name={t.fields.outcome}>
          <Outcome event={event} /> <span class="quiet">{t.outcomeHelp[event.outcome]}</span>
        </Fact>
        <Fact name={t.fields.service}>{event.service}</Fact>
        <Fact name={t.fields.auth_type}>{t.auth(actor.auth_type)}</Fact>
        <Fact name={t.fields.key_prefix}>{actor.key_prefix}</Fact>
        <Fact name={t.fields.member_id}>{actor.member_id}</Fact>
        <Fact name={t.fields.ip}>{event.ip}</Fact>
        <Fact name={t.fields.user_agent}>{event.user_agent}</Fact>
        <Fact name={t.fields.request_id}>{event.request_id}</Fact>
        <Fact name={t.fields.created_id}>{event.created_id}</Fact>
        <Fact name={t.fields.id}>{event.id}</Fact>
        {Object.entries(event.params).map(([name, value]) => (
          <Fact key={name} name={t.param(name)}>
            {value}
          </Fact>
        ))}
      </dl>
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

/** Links to the events of the same key, and to the events of the same member. */
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
