import {
  Answered,
  DataTable,
  Empty,
  FailureNotice,
  Loading,
  type Place,
  Route,
  replacePlace,
  SelectField,
  Time,
  useAsked,
} from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { USAGE } from "../address.ts";
import { useAddress, useSession } from "../page-session.ts";
import { More, usePages } from "../parts/lists.tsx";
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
  shownParts,
  totalOf,
  type UsagePart,
} from "./usage.ts";

/** Shows the organization's usage in a month, its quotas, and the limits of the member's calls. */
export function UsageView({ place }: { place: Place }) {
  const t = useTexts().usage;
  const { gateway } = useSession();
  const address = useAddress();
  const [nowMs] = useState(() => Date.now());
  const [all, setAll] = useState(false);
  const months = monthsAt(nowMs);
  const asked = place.query.get("month");
  const month = months.find((each) => each === asked) ?? months[0] ?? "";
  const usage = useAsked(() => readMonth(gateway, month), month);
  return (
    <>
      <p class="lead">{t.lead}</p>
      <div class="filters">
        <SelectField
          label={t.month}
          value={month}
          options={months.map((value) => ({ value, text: value }))}
          onChange={(value) => replacePlace(address(USAGE, { query: new URLSearchParams({ month: value }) }))}
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
      <Totals key={month} month={month} all={all} />
      <Answered asked={usage}>{({ quotas }) => <Quotas quotas={quotas} />}</Answered>
      {usage.answer !== null && <Days days={daysOf(month, nowMs)} answer={usage.answer} />}
      <Breakdown month={month} all={all} />
      <OwnLimits />
    </>
  );
}

/** Shows the sums of the month. */
function Totals({ month, all }: { month: string; all: boolean }) {
  const t = useTexts().usage;
  const { gateway } = useSession();
  const { number, bytes } = useFormats();
  const { answer } = useAsked(() => listParts(gateway, month, "service", undefined), month);
  if (answer === null) return null;
  const { requests, refused, failed, bytes_in, bytes_out } = totalOf(shownParts(answer.items, all));
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

function Days({ days, answer: { usage, gaps } }: { days: readonly string[]; answer: MonthUsage }) {
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

/** Lists the usage of a month by service, by route or by key. */
function Breakdown({ month, all }: { month: string; all: boolean }) {
  const t = useTexts().usage;
  const { gateway } = useSession();
  const [by, setBy] = useState<Division>("service");
  const pages = usePages((after) => listParts(gateway, month, by, after), `${month} ${by}`);
  const shown = shownParts(pages.items, all);
  return (
    <section aria-labelledby="parts">
      <h2 id="parts">{t.parts}</h2>
      <SelectField
        label={t.by}
        value={by}
        options={DIVISIONS.map((value) => ({ value, text: t.divisions[value] }))}
        onChange={setBy}
      />
      {pages.failure !== null && <FailureNotice failure={pages.failure} onRetry={pages.again} />}
      {!pages.answered && pages.loading && <Loading />}
      {pages.answered && shown.length === 0 && (
        <Empty title={pages.items.length === 0 ? t.none : t.onlyOwn} />
      )}
      {shown.length > 0 && <Parts by={by} parts={shown} />}
      {pages.has_more && <More loading={pages.loading} onMore={pages.more} />}
    </section>
  );
}

function Parts({ by, parts }: { by: Division; parts: readonly UsagePart[] }) {
  const t = useTexts().usage;
  const { number, bytes } = useFormats();
  const { requests, refused, failed, bytes_in, bytes_out } = t.columns;
  return (
    <DataTable
      label={t.parts}
      columns={[t.divisions[by], requests, refused, failed, bytes_in, bytes_out]}
      rows={parts.map((part) => ({
        key: part.id,
        cells: [
          <PartName by={by} part={part} />,
          ...[part.requests, part.refused, part.failed].map(number),
          bytes(part.bytes_in),
          bytes(part.bytes_out),
        ],
      }))}
    />
  );
}

function PartName({ by, part }: { by: Division; part: UsagePart }) {
  const t = useTexts().usage;
  if (by === "service") return <>{part.service}</>;
  if (by === "route") {
    return <Route text={`${part.method} ${part.route}`} />;
  }
  if (part.key_prefix === null || part.key_prefix === undefined) {
    return (
      <>
        {t.sessions} <code>{part.member_id}</code>
      </>
    );
  }
  return <code>{part.key_prefix}</code>;
}
