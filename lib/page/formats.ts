/** Formatters for the language of a page. Times are in the browser's time zone, and name the zone. */
export interface Formats {
  time(at: string): string;
  number(value: number): string;
  /** Formats a number of bytes in kilobytes, megabytes or gigabytes if it has at least one. */
  bytes(value: number): string;
  list(items: readonly string[]): string;
  /** Formats a duration, rounded to one unit. */
  duration(seconds: number): string;
}

const made = new Map<string, Formats>();
const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

const UNITS = [
  ["gigabyte", 1e9],
  ["megabyte", 1e6],
  ["kilobyte", 1e3],
] as const;

export function formatsOf(locale: string): Formats {
  const formats = made.get(locale) ?? makeFormats(locale);
  made.set(locale, formats);
  return formats;
}

function makeFormats(locale: string): Formats {
  const times = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "long" });
  const numbers = new Intl.NumberFormat(locale);
  const lists = new Intl.ListFormat(locale, { type: "conjunction" });
  const unit = (value: number, name: string) =>
    new Intl.NumberFormat(locale, { style: "unit", unit: name, unitDisplay: "long" }).format(value);
  return {
    time(at) {
      const date = new Date(at);
      return Number.isNaN(date.getTime()) ? at : times.format(date);
    },
    number: (value) => numbers.format(value),
    bytes(value) {
      const [name, size] = UNITS.find(([, least]) => value >= least) ?? ["byte", 1];
      // English forms no plural of the short unit: "0 byte"
      const unitDisplay = size === 1 ? "long" : "short";
      const options = { style: "unit", unit: name, unitDisplay, maximumFractionDigits: 1 } as const;
      return new Intl.NumberFormat(locale, options).format(value / size);
    },
    list: (items) => lists.format(items),
    duration(seconds) {
      if (seconds < 2 * MINUTE) return unit(Math.ceil(seconds), "second");
      if (seconds < 2 * HOUR) return unit(Math.round(seconds / MINUTE), "minute");
      if (seconds < 2 * DAY) return unit(Math.round(seconds / HOUR), "hour");
      return unit(Math.round(seconds / DAY), "day");
    },
  };
}
