import { useFormats, useTexts } from "../texts/texts.ts";
import { totalOf, type UsagePart } from "./usage-shapes.ts";

interface DayPlotProps {
  days: readonly string[];
  /** The usage by day. Days without usage are missing. */
  usage: readonly UsagePart[];
}

const WIDTH = 640;
const HEIGHT = 180;
/** The height of the labels below the bars (`FOOT`) and above the bars (`HEAD`). */
const FOOT = 18;
const HEAD = 18;
const BAR_SHARE = 0.7;
/** The plot labels the first day of the month, and every fifth day. */
const LABELLED_DAYS = 5;
const KINDS = ["served", "failed", "refused"] as const;

/** Plots the requests of each day as a stacked bar: served, failed and refused. */
export function DayPlot({ days, usage }: DayPlotProps) {
  const t = useTexts().usage;
  const { number } = useFormats();
  const byDay = new Map(usage.map((day) => [day.from, day]));
  const top = Math.max(1, ...usage.map(({ requests }) => requests));
  const total = totalOf(usage);
  if (total.requests === 0) return <p class="quiet">{t.none}</p>;
  const dayWidth = WIDTH / Math.max(1, days.length);
  return (
    <figure class="plot">
      <svg
        role="img"
        aria-label={t.plot(number(total.requests), number(total.refused), number(total.failed))}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      >
        <text x="0" y="12" class="plot-text">
          {number(top)}
        </text>
        <line x1="0" x2={WIDTH} y1={HEAD} y2={HEAD} class="plot-line" />
        <line x1="0" x2={WIDTH} y1={HEIGHT - FOOT} y2={HEIGHT - FOOT} class="plot-line" />
        {days.map((day, index) => {
          const { requests = 0, refused = 0, failed = 0 } = byDay.get(day) ?? {};
          const parts = { served: Math.max(0, requests - refused - failed), failed, refused };
          const date = Number(day.slice("2026-11-".length, "2026-11-23".length));
          let y = HEIGHT - FOOT;
          return (
            <g key={day}>
              {KINDS.map((kind) => {
                const height = (parts[kind] * (HEIGHT - HEAD - FOOT)) / top;
                y -= height;
                const x = (index + (1 - BAR_SHARE) / 2) * dayWidth;
                return (
                  <rect
                    key={kind}
                    class={`plot-${kind}`}
                    {...{ x, y, height }}
                    width={dayWidth * BAR_SHARE}
                  />
                );
              })}
              {(date === 1 || date % LABELLED_DAYS === 0) && (
                <text x={(index + 0.5) * dayWidth} y={HEIGHT - 4} text-anchor="middle" class="plot-text">
                  {date}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <figcaption class="spread">
        {KINDS.map((kind) => (
          <span key={kind}>
            <span class={`legend-mark plot-${kind}`} /> {t.kinds[kind]}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
