import { useFormats, useTexts } from "../texts/texts.ts";
import { totalOf, type UsagePart } from "./usage.ts";

interface DayPlotProps {
  /** The days on the x-axis, as RFC 3339 times of their start. */
  days: readonly string[];
  /** The usage by day. Days without usage are missing. */
  usage: readonly UsagePart[];
}

const WIDTH = 640;
const HEIGHT = 180;
/** The height of the labels below the bars (`FOOT`) and above the bars (`HEAD`). */
const FOOT = 18;
const HEAD = 18;
/** The fraction of a day's width that its bar fills. */
const BAR_SHARE = 0.7;

/** Plots the requests of each day as a stacked bar: answered, failed and refused. */
export function DayPlot({ days, usage }: DayPlotProps) {
  const t = useTexts().usage;
  const { number } = useFormats();
  const byDay = new Map(usage.map((day) => [day.from, day]));
  const top = Math.max(1, ...usage.map(({ requests }) => requests));
  const total = totalOf(usage);
  const room = WIDTH / Math.max(1, days.length);
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
        {days.map((day, index) => (
          <Day key={day} day={day} usage={byDay.get(day)} x={index * room} room={room} top={top} />
        ))}
      </svg>
      <figcaption class="spread">
        {(["answered", "failed", "refused"] as const).map((kind) => (
          <span key={kind}>
            <span class={`legend-mark plot-${kind}`} /> {t.kinds[kind]}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

interface DayProps {
  day: string;
  usage: UsagePart | undefined;
  x: number;
  room: number;
  /** The number of requests at the top of the y-axis. */
  top: number;
}

function Day({ day, usage, x, room, top }: DayProps) {
  const scale = (HEIGHT - HEAD - FOOT) / top;
  const { requests = 0, refused = 0, failed = 0 } = usage ?? {};
  let y = HEIGHT - FOOT;
  const parts = [
    { kind: "answered", count: Math.max(0, requests - refused - failed) },
    { kind: "failed", count: failed },
    { kind: "refused", count: refused },
  ];
  const date = Number(day.slice("2026-11-".length, "2026-11-23".length));
  return (
    <g>
      {parts.map(({ kind, count }) => {
        const height = count * scale;
        y -= height;
        return (
          count > 0 && (
            <rect
              key={kind}
              class={`plot-${kind}`}
              x={x + (room * (1 - BAR_SHARE)) / 2}
              y={y}
              width={room * BAR_SHARE}
              height={height}
            />
          )
        );
      })}
      {(date === 1 || date % LABELLED_DAYS === 0) && (
        <text x={x + room / 2} y={HEIGHT - 4} text-anchor="middle" class="plot-text">
          {date}
        </text>
      )}
    </g>
  );
}

/** The plot labels the first day of the month, and every fifth day. */
const LABELLED_DAYS = 5;
