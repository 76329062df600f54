import { ENGLISH } from "./english.ts";
import { sentenceOf } from "./finding-codes.ts";
import type { Problem } from "./problems.ts";
import type { Verdict } from "./verify.ts";

/** A problem as the command line shows it. */
interface EnglishProblem extends Omit<Problem, "finding"> {
  /** One sentence for a person. */
  message: string;
}

/** A verdict whose findings are English sentences. */
export interface EnglishVerdict extends Omit<Verdict, "faults" | "undecided" | "not_shown"> {
  faults: readonly EnglishProblem[];
  undecided: readonly string[];
  not_shown: readonly string[];
}

/** Returns a verdict with its findings as English sentences. */
export function inEnglish(verdict: Verdict): EnglishVerdict {
  return {
    ...verdict,
    faults: verdict.faults.map(({ kind, finding, ...place }) => ({
      kind,
      message: sentenceOf(finding, ENGLISH),
      ...place,
    })),
    undecided: verdict.undecided.map((question) => sentenceOf(question, ENGLISH)),
    not_shown: verdict.not_shown.map((fact) => sentenceOf(fact, ENGLISH)),
  };
}
