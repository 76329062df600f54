import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ENGLISH } from "./english.ts";
import type { Failure } from "./failure.ts";
import type { Formats } from "./formats.ts";

/** The words of a notice about a failure. */
export interface Explanation {
  readonly title: string;
  readonly tone: "warn" | "bad";
  /** The text after the title: what to do. Empty if the title says everything. */
  readonly text: ComponentChildren;
  /** The details that only this failure has. */
  readonly more?: ComponentChildren;
}

/** The words that a page gives to the parts of this library. */
export interface PageTexts {
  readonly formats: Formats;
  readonly texts: typeof ENGLISH;
  explain(failure: Failure): Explanation;
  /** Shows the problem of a field in a list of problems. */
  problem(field: Failure["fields"][number]): ComponentChildren;
  /** The button that a notice about an ended sign-in shows. */
  readonly signIn?: { readonly text: string; run(): void };
}

/** Creates a context that components require. Returns its provider, and the hook that returns its value. */
export function requiredContext<Value>() {
  const context = createContext<Value | null>(null);
  const use = (): Value => {
    const value = useContext(context);
    if (value === null) throw new Error("This component is outside of the provider of its context.");
    return value;
  };
  return [context.Provider, use] as const;
}

export const [PageTextsProvider, usePageTexts] = requiredContext<PageTexts>();
