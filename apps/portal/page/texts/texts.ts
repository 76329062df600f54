import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { de } from "./de.ts";
import { en, type Texts } from "./en.ts";

export type { Texts };

/** The texts of each language. To add a language, add a file beside `en.ts` and an entry here. */
const LANGUAGES: Readonly<Record<string, Texts>> = { en, de };

/** Returns the texts of a language, or the English texts for an unknown language. */
export function textsOf(language: string): Texts {
  return Object.hasOwn(LANGUAGES, language) ? (LANGUAGES[language] ?? en) : en;
}

/** Returns the first wanted language that the page offers, or otherwise the first offered language. */
export function languageFor(wanted: readonly string[], offered: readonly string[]): string {
  const known = wanted.map((tag) => tag.toLowerCase().split("-")[0] ?? "");
  return known.find((language) => offered.includes(language)) ?? offered[0] ?? "en";
}

export const LanguageContext = createContext("en");

/** Returns the texts of the page's language. */
export function useTexts(): Texts {
  return textsOf(useContext(LanguageContext));
}

/** Formatters for the page's language. Times are in the browser's time zone. */
export interface Formats {
  time(at: string): string;
  number(value: number): string;
  list(items: readonly string[]): string;
  /** Formats a duration, rounded to one unit. */
  duration(seconds: number): string;
}

const made = new Map<string, Formats>();

export function useFormats(): Formats {
  const { locale } = useTexts();
  const known = made.get(locale);
  if (known !== undefined) return known;
  const formats = formatsOf(locale);
  made.set(locale, formats);
  return formats;
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

function formatsOf(locale: string): Formats {
  const times = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
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
    list: (items) => lists.format(items),
    duration(seconds) {
      if (seconds < 2 * MINUTE) return unit(Math.ceil(seconds), "second");
      if (seconds < 2 * HOUR) return unit(Math.round(seconds / MINUTE), "minute");
      if (seconds < 2 * DAY) return unit(Math.round(seconds / HOUR), "hour");
      return unit(Math.round(seconds / DAY), "day");
    },
  };
}
