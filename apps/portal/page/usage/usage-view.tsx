import {
  Answered,
  DataTable,
  type Place,
  replacePlace,
  SelectField,
  Time,
  useAsked,
} from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { USAGE } from "../address.ts";
import { useAddress, useSession } from "../page-session.ts";
import { useFormats, useTexts } from "../texts/texts.ts";
import { Breakdown } from "./breakdown.tsx";
import { DayPlot } from "./day-plot.tsx";
import { OwnLimits } from "./own-limits.tsx";
import { Quotas } from "./quotas.tsx";
import { daysOf, type MonthUsage, monthsAt, readMonth } from "./usage.ts";

/** Shows the organization's usage in a month, its quotas, and the limits of the member's calls. */
export function UsageView({ place }: { place: Place }) {
  const t = useTexts().usage;
  const { gateway } = useSession();
  const address = useAddress();
  const [nowMs] = useState(() => Date.now());
  const months = monthsAt(nowMs);
  const asked = place.query.get("month");
  const month = months.find((each) => each === asked) ?? months[0] ?? "";
  const usage = useAsked(() => readMonth(gateway, month), month);
  return (
    <>
      <p class="lead">{t.lead}</p>
      <Answered asked={usage}>{({ quotas }) => <Quotas quotas={quotas} />}</Answered>
      <div class="filters">
        <SelectField
          label={t.month}
          value={month}
          options={months.map((value) => ({ value, text: value }))}
          onChange={(value) => replacePlace(address(USAGE, { query: new URLSearchParams({ month: value }) }))}
        />
      </div>
      {usage.answer !== null && <Days days={daysOf(month, nowMs)} answer={usage.answer} />}
      <Breakdown month={month} />
      <OwnLimits />
    </>
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
