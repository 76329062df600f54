import { ENGLISH } from "./english.ts";
import { type ProblemKind, sentenceOf } from "./findings.ts";
import type { Verdict } from "./verify.ts";

/** A problem as the command line shows it. */
interface EnglishProblem {
  kind: ProblemKind;
  /** One sentence for a person. */
  message: string;
  event_id: string | null;
  position: number | null;
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
    faults: verdict.faults.map(({ kind, finding, event_id, position }) => ({
      kind,
      message: sentenceOf(finding, ENGLISH),
      event_id,
      position,
    })),
    undecided: verdict.undecided.map((question) => sentenceOf(question, ENGLISH)),
    not_shown: verdict.not_shown.map((fact) => sentenceOf(fact, ENGLISH)),
  };
}
