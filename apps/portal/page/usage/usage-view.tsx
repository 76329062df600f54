import {
  DataTable,
  Empty,
  Loaded,
  type PageAddress,
  PagedRows,
  Route,
  replacePlace,
  SelectField,
  Time,
  usePages,
  useRequest,
} from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { PersonName, usePeople } from "../people/person-name.tsx";
import { USAGE } from "../portal-address.ts";
import { useAddress, useSession } from "../portal-session.ts";
import { useFormats, useTexts } from "../texts/texts.ts";
import { DayPlot } from "./day-plot.tsx";
import { OwnLimits } from "./own-limits.tsx";
import { Quotas } from "./quotas.tsx";
import {
  DIVISIONS,
  type Division,
  daysOf,
  listParts,
  type MonthUsage,
  monthsAt,
  readMonth,
  totalOf,
  type UsagePart,
} from "./usage-shapes.ts";

/** Shows the organization's usage in a month, its quotas, and the limits of the member's calls. */
export function UsageView({ place }: { place: PageAddress }) {
  const { usage: t, locale } = useTexts();
  const { gateway } = useSession();
  const address = useAddress();
  const named = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric", timeZone: "UTC" });
  const [nowMs] = useState(() => Date.now());
  const [all, setAll] = useState(false);
  const months = monthsAt(nowMs);
  const chosen = place.query.get("month");
  const month = months.find((each) => each === chosen) ?? months[0] ?? "";
  const usage = useRequest(() => readMonth(gateway, month, all), `${month} ${all}`);
  return (
    <>
      <p class="lead">{t.lead}</p>
      <div class="filters">
        <SelectField
          label={t.month}
          value={month}
          options={months.map((value) => ({ value, text: named.format(new Date(value)) }))}
          onInput={(value) => replacePlace(address(USAGE, { query: new URLSearchParams({ month: value }) }))}
        />
        <label class="chip">
          <input
            type="checkbox"
            checked={all}
            onChange={({ currentTarget }) => setAll(currentTarget.checked)}
          />
          {t.withOwn}
        </label>
      </div>
      <Loaded request={usage}>
        {(loaded) => (
          <>
            <Totals usage={loaded.usage} />
            <Quotas quotas={loaded.quotas} />
            <Days days={daysOf(month, nowMs)} loaded={loaded} />
          </>
        )}
      </Loaded>
      <Breakdown month={month} all={all} />
      <OwnLimits />
    </>
  );
}

function Totals({ usage }: Pick<MonthUsage, "usage">) {
  const t = useTexts().usage;
  const { number, bytes } = useFormats();
  const { requests, refused, failed, bytes_in, bytes_out } = totalOf(usage);
  const tiles = [
    [number(requests), t.columns.requests],
    [number(refused), t.columns.refused],
    [number(failed), t.columns.failed],
    [bytes(bytes_in + bytes_out), t.transferred],
  ] as const;
  return (
    <ul class="tiles" aria-label={t.totals}>
      {tiles.map(([value, text]) => (
        <li key={text} class="tile">
          <strong>{value}</strong>
          {text}
        </li>
      ))}
    </ul>
  );
}

function Days({ days, loaded: { usage, gaps } }: { days: readonly string[]; loaded: MonthUsage }) {
  const t = useTexts().usage;
  const { number } = useFormats();
  const [first] = gaps;
  return (
    <section aria-labelledby="days">
      <h2 id="days">{t.days}</h2>
      {first !== undefined && (
        <p class="notice notice-warn">
          {t.gap} <Time at={first.after} />.
        </p>
      )}
      <DayPlot days={days} usage={usage} />
      <details>
        <summary>{t.asTable}</summary>
        <DataTable
          label={t.days}
          columns={[t.day, t.columns.requests, t.columns.refused, t.columns.failed]}
          rows={usage.map((day) => ({
            key: day.id,
            cells: [
              day.from.slice(0, "2026-11-23".length),
              ...[day.requests, day.refused, day.failed].map(number),
            ],
          }))}
        />
      </details>
    </section>
  );
}

function Breakdown({ month, all }: { month: string; all: boolean }) {
  const t = useTexts().usage;
  const { gateway } = useSession();
  const { number, bytes } = useFormats();
  const [by, setBy] = useState<Division>("service");
  const pages = usePages<UsagePart>(
    (last) => listParts(gateway, { month, by, all }, last?.id),
    ({ id }) => id,
    `${month} ${by} ${all}`,
  );
  const people = usePeople(pages.items.map(({ member_id }) => member_id ?? null));
  const { requests, refused, failed, bytes_in, bytes_out } = t.columns;
  return (
    <section aria-labelledby="parts">
      <h2 id="parts">{t.parts}</h2>
      <SelectField
        label={t.by}
        value={by}
        options={DIVISIONS.map((value) => ({ value, text: t.divisions[value] }))}
        onInput={setBy}
      />
      <PagedRows pages={pages}>
        {(parts) => (
          <DataTable
            none={<Empty title={all ? t.none : t.onlyOwn} />}
            label={t.parts}
            columns={[t.divisions[by], requests, refused, failed, bytes_in, bytes_out]}
            rows={parts.map((part) => ({
              key: part.id,
              cells: [
                <PartName part={part} member={people.get(part.member_id ?? "")} />,
                ...[part.requests, part.refused, part.failed].map(number),
                bytes(part.bytes_in),
                bytes(part.bytes_out),
              ],
            }))}
          />
        )}
      </PagedRows>
    </section>
  );
}

interface PartNameProps {
  part: UsagePart;
  member: { id: string; display_name: string | null } | undefined;
}

function PartName({ part: { service, method, route, member_id, key_prefix }, member }: PartNameProps) {
  const { audit } = useTexts();
  if (route !== undefined) return <Route text={`${method} ${route}`} />;
  if (member_id === undefined) return <>{service}</>;
  return (
    <>
      <span class="name">
        <PersonName member={member ?? { id: member_id, display_name: null }} />
      </span>
      <span class="below quiet">
        {key_prefix == null ? audit.auth("member_session") : <code>{key_prefix}</code>}
      </span>
    </>
  );
}
