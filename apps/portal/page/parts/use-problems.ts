import { isBlank, problemOfText } from "@ostiary/lib/contracts/identity-api";
import {
  type Done,
  type Failure,
  type Formats,
  type Result,
  usePageTexts,
  useWrite,
} from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { useSession } from "../portal-session.ts";
import { type Texts, useFormats, useTexts } from "../texts/texts.ts";

/** Returns the text for the problem of a field, in the page's language. */
export type Problem = (texts: Texts, formats: Formats) => string;

/** The problems of fields by the names that the service uses for the fields. Null means no problem. */
export type Problems = Readonly<Record<string, Problem | null>>;

const NONE: Problems = {};

export type FieldProblems = ReturnType<typeof useProblems>;

/** Keeps the problems of the fields of a form. `failure` is the response to the last submission, or null. */
export function useProblems(failure: Failure | null) {
  const texts = useTexts();
  const formats = useFormats();
  /** The problems that the page finds before it sends the form. `failure` has those that the service reports. */
  const [found, show] = useState(NONE);
  const of = (name: string) =>
    found[name]?.(texts, formats) ?? failure?.fields.find(({ path }) => path === name)?.message ?? null;
  return {
    found,
    failure,
    /** Shows these problems. Returns true if there is no problem, so that the form can be sent. */
    pass(problems: Problems): boolean {
      const passes = Object.values(problems).every((problem) => problem === null);
      show(passes ? NONE : problems);
      return passes;
    },
    /** Returns the text for the problem of a field, or null. */
    of,
    /** Returns the attributes of a field with this name and value. */
    field: <Value>(name: string, value: Value, onInput: (value: Value) => void) => ({
      value,
      problem: of(name),
      onInput,
    }),
  };
}

export type ChangeForm = ReturnType<typeof useForm>;

export function useForm() {
  const session = useSession();
  const { lost, unknown } = useTexts();
  const { explain } = usePageTexts();
  const writing = useWrite((failure) =>
    session.announce(failure.outcomeUnknown ? unknown.join(". ") : lost(explain(failure).title)),
  );
  const problems = useProblems(writing.failure);
  return {
    ...writing,
    ...problems,
    /** Makes the change unless the page finds a problem. Otherwise shows the problems. */
    send<Value>(found: Problems, work: () => Promise<Result<Value>>, done: Done<Value>) {
      if (problems.pass(found)) void writing.write(work, done);
    },
  };
}

interface TextRule {
  readonly lengthMax: number;
  readonly optional?: boolean;
}

/**
 * Returns the problem of a text that a person entered, or null. A text that shows nothing has one here even if its
 * characters are above U+FFFF, which identity accepts.
 */
export function problemOf(text: string, { lengthMax, optional = false }: TextRule): Problem | null {
  const problem = problemOfText(text, lengthMax) ?? (isBlank(text) ? "control_characters" : null);
  if (problem === null || (optional && problem === "empty")) return null;
  if (problem !== "too_long") return (texts) => texts.problems[problem];
  return (texts, { number }) => texts.problems.too_long(number(lengthMax));
}
