import { type Formats, formatsOf } from "@ostiary/lib/page";
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

/** Returns the formatters for the page's language. */
export function useFormats(): Formats {
  return formatsOf(useTexts().locale);
}
