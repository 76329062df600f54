import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer, Failure } from "./failure.ts";
import { FailureNotice } from "./notice.tsx";
import { Loading } from "./shown.tsx";

/** The state of a repeatable request. During a repetition, `answer` is still the last result. */
export interface Asked<Result> {
  readonly loading: boolean;
  readonly answer: Result | null;
  readonly failure: Failure | null;
}

export const NOTHING_ASKED: Asked<never> = { loading: true, answer: null, failure: null };

export type Repeatable<Result> = Asked<Result> & { again(): Promise<void> };

/** Runs `work` on the first render, when `about` changes, and on `again`. Ignores a run that a newer one overtook. */
export function useAsked<Result>(work: () => Promise<Answer<Result>>, about: string): Repeatable<Result> {
  const [asked, setAsked] = useState<Asked<Result> & { about: string }>({ ...NOTHING_ASKED, about });
  const latest = useRef(0);
  const again = async () => {
    const question = ++latest.current;
    setAsked((before) => ({
      ...NOTHING_ASKED,
      answer: before.about === about ? before.answer : null,
      about,
    }));
    const result = await work();
    if (question !== latest.current) return;
    setAsked((before) => ({
      loading: false,
      answer: result.ok ? result.value : before.answer,
      failure: result.ok ? null : result.failure,
      about,
    }));
  };
  useEffect(() => {
    void again();
    return () => {
      latest.current += 1;
    };
  }, [about]);
  return { ...(asked.about === about ? asked : NOTHING_ASKED), again };
}

interface AnsweredProps<Result> {
  asked: Repeatable<Result>;
  children: (answer: Result) => ComponentChildren;
}

/** Shows the result of a request, a placeholder before it arrives, and a notice if the request failed. */
export function Answered<Result>({ asked, children }: AnsweredProps<Result>) {
  const { answer, failure, again } = asked;
  return (
    <>
      {failure !== null && <FailureNotice failure={failure} onRetry={again} />}
      {answer === null && failure === null && <Loading />}
      {answer !== null && children(answer)}
    </>
  );
}
