import { isBlank, problemOfText } from "@ostiary/lib/contracts/identity-api";
import { type Answer, type Failure, type Formats, useWrite, type Writing } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { type Texts, useFormats, useTexts } from "../texts/texts.ts";

/** Returns the text for the problem of a field, in the page's language. */
export type Problem = (texts: Texts, formats: Formats) => string;

/** The problems of fields by the names that the service uses for the fields. Null means no problem. */
export type Problems = Readonly<Record<string, Problem | null>>;

/**
 * The problems of the fields of a form. `found` are the problems that the page finds before it sends the
 * form. The service reports further problems in `failure`.
 */
export interface FieldProblems {
  readonly found: Problems;
  readonly failure: Failure | null;
  /** Shows these problems. Returns true if there is no problem, so that the form can be sent. */
  pass(found: Problems): boolean;
  /** Returns the text for the problem of a field, or null. */
  of(name: string): string | null;
  /** Returns the attributes of a field with this name and value. */
  field<Value>(name: string, value: Value, onInput: (value: Value) => void): Editable<Value>;
}

interface Editable<Value> {
  value: Value;
  problem: string | null;
  onInput: (value: Value) => void;
}

const NONE: Problems = {};

/** Keeps the problems of a form. `failure` is the service's response to the last submission, or null. */
export function useProblems(failure: Failure | null): FieldProblems {
  const texts = useTexts();
  const formats = useFormats();
  const [found, show] = useState(NONE);
  const of = (name: string) =>
    found[name]?.(texts, formats) ?? failure?.fields.find(({ path }) => path === name)?.message ?? null;
  return {
    found,
    failure,
    pass(problems) {
      const passes = Object.values(problems).every((problem) => problem === null);
      show(passes ? NONE : problems);
      return passes;
    },
    of,
    field: (name, value, onInput) => ({ value, problem: of(name), onInput }),
  };
}

export interface ChangeForm extends Writing, FieldProblems {
  /** Makes the change unless the page finds a problem. Otherwise shows the problems. */
  send<Result>(found: Problems, work: () => Promise<Answer<Result>>, done: (value: Result) => void): void;
}

export function useForm(): ChangeForm {
  const writing = useWrite();
  const problems = useProblems(writing.failure);
  return {
    ...writing,
    ...problems,
    send: (found, work, done) => problems.pass(found) && void writing.write(work, done),
  };
}

interface TextRule {
  readonly lengthMax: number;
  readonly optional?: boolean;
}

/**
 * Returns the problem of a text that a person entered, or null. A text that shows nothing has one here, although identity
 * accepts it: which characters show nothing changes with each version of Unicode.
 */
export function problemOf(text: string, { lengthMax, optional = false }: TextRule): Problem | null {
  const problem = problemOfText(text, lengthMax) ?? (isBlank(text) ? "control_characters" : null);
  if (problem === null || (optional && problem === "empty")) return null;
  if (problem !== "too_long") return (texts) => texts.problems[problem];
  return (texts, { number }) => texts.problems.too_long(number(lengthMax));
}
