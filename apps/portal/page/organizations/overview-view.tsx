import { Organization } from "@ostiary/lib/contracts/identity-api";
import { Facts, Loaded, type PageAddress, Time, useRequest } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { EventTable } from "../audit/event-table.tsx";
import { listEvents, ORGANIZATION_LOG } from "../audit/logs.ts";
import { verifiedUpTo } from "../audit/verify/verified-up-to.ts";
import { pathTo } from "../gateway.ts";
import { CopiedId } from "../parts/confirm.tsx";
import {
  AUDIT,
  INVITES,
  MEMBER_KEYS,
  MEMBERS,
  SERVICE_ACCOUNTS,
  USAGE,
  type ViewPath,
} from "../portal-address.ts";
import { useAddress, useSession } from "../portal-session.ts";
import { AUDIT_LABEL, Granted, MEMBERS_LABEL, USAGE_LABEL } from "../roles/roles.tsx";
import { useFormats, useTexts } from "../texts/texts.ts";
import { DayPlot } from "../usage/day-plot.tsx";
import { Quotas } from "../usage/quotas.tsx";
import { daysOf, monthsAt, readMonth } from "../usage/usage-shapes.ts";
import { type Count, readOverview } from "./overview.ts";

/** Shows what an admin wants to know of the organization first. */
export function OverviewView() {
  const session = useSession();
  return (
    <>
      <Counts />
      {session.may(USAGE_LABEL) && <MonthSoFar />}
      {session.may(AUDIT_LABEL) && <LastEvents />}
      <OrganizationFacts />
    </>
  );
}

function Counts() {
  const session = useSession();
  const { overview: t } = useTexts();
  const address = useAddress();
  const seesInvites = session.may(MEMBERS_LABEL);
  const request = useRequest(
    async () => ({ ok: true, value: await readOverview(session.gateway, seesInvites, Date.now()) }) as const,
    "counts",
  );
  return (
    <Loaded request={request}>
      {({ members, invites, endingKeys, endingAccount }) => (
        <ul class="tiles">
          <Tile count={members} text={t.members} href={address(MEMBERS)} />
          <Tile count={invites} text={t.invites} href={address(INVITES)} />
          <Tile count={endingKeys} text={t.endingKeys} href={address(...keysAt(endingAccount))} />
        </ul>
      )}
    </Loaded>
  );
}

/** Returns the place of a service account's keys, or of the member's own keys. */
function keysAt(account_id: string | null): [ViewPath, Partial<PageAddress>?] {
  return account_id === null ? [MEMBER_KEYS] : [SERVICE_ACCOUNTS, { segments: [account_id] }];
}

function Tile({ count, text, href }: { count: Count | null; text: (count: number) => string; href: string }) {
  const { number } = useFormats();
  if (count === null) return null;
  return (
    <li>
      <a class="tile" href={href}>
        <strong>
          {number(count.value)}
          {!count.isWhole && "+"}
        </strong>
        {text(count.value)}
      </a>
    </li>
  );
}

function MonthSoFar() {
  const { gateway } = useSession();
  const { overview: t } = useTexts();
  const address = useAddress();
  const [nowMs] = useState(() => Date.now());
  const [month = ""] = monthsAt(nowMs);
  const request = useRequest(() => readMonth(gateway, month), month);
  return (
    <section aria-labelledby="month">
      <h2 id="month">{t.month}</h2>
      <Loaded request={request}>
        {({ usage, quotas }) => (
          <div class="halves">
            <DayPlot days={daysOf(month, nowMs)} usage={usage} />
            <div>
              <Quotas quotas={quotas} />
            </div>
          </div>
        )}
      </Loaded>
      <a href={address(USAGE)}>{t.allUsage}</a>
    </section>
  );
}

const LAST_EVENTS = 5;

function LastEvents() {
  const { gateway, member } = useSession();
  const { overview: t, audit } = useTexts();
  const address = useAddress();
  const request = useRequest(
    () => listEvents(gateway, ORGANIZATION_LOG, {}, undefined, LAST_EVENTS),
    "events",
  );
  const verified = verifiedUpTo(member.value?.organization_id ?? "");
  return (
    <section aria-labelledby="last">
      <h2 id="last">{t.lastEvents}</h2>
      <Loaded request={request}>{({ items }) => <EventTable log={ORGANIZATION_LOG} events={items} />}</Loaded>
      <p class="spread">
        <a href={address(AUDIT)}>{t.allEvents}</a>
        <span>
          {verified === null ? (
            t.neverVerified
          ) : (
            <>
              {t.verified} <Time at={verified} />
            </>
          )}
          . <a href={address(AUDIT, { segments: ["verify"] })}>{audit.verify.link}</a>
        </span>
      </p>
    </section>
  );
}

function OrganizationFacts() {
  const session = useSession();
  const { overview: t, members, organization: title } = useTexts();
  const member = session.member.value;
  const request = useRequest(() => session.gateway.send(Organization, pathTo("org")), "organization");
  return (
    <Loaded request={request}>
      {({ name, id, plan, created_at }) => (
        <section aria-labelledby="organization">
          <h2 id="organization">{title}</h2>
          <Facts
            facts={[
              [t.name, name],
              [t.plan, plan ?? t.noPlan],
              [t.created, <Time at={created_at} />],
              [t.id, <CopiedId id={id} />],
            ]}
          />
          <h3>{t.you}</h3>
          <Facts
            facts={[
              [members.columns.role, member?.role ?? members.noRole],
              [t.labels, <Granted labels={member?.labels ?? []} />],
            ]}
          />
        </section>
      )}
    </Loaded>
  );
}
