import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer, Failure } from "./failure.ts";
import { FailureNotice, type FailureNoticeProps } from "./notice.tsx";
import { Loading } from "./shown.tsx";

/** The state of a repeatable request. During a repetition, `answer` is still the last result. */
export interface Asked<Result> {
  readonly loading: boolean;
  readonly answer: Result | null;
  readonly failure: Failure | null;
  again(): Promise<void>;
}

const NOTHING_ASKED = { loading: true, answer: null, failure: null };

/**
 * Runs `work` on the first render, when `about` changes, and on `again`; runs other work for the same state on `ask`,
 * which returns whether it succeeded. Ignores a run that a newer one overtook.
 */
export function useAsked<Result>(work: () => Promise<Answer<Result>>, about: string) {
  const [asked, setAsked] = useState<Omit<Asked<Result>, "again"> & { about: string }>({
    ...NOTHING_ASKED,
    about,
  });
  const latest = useRef(0);
  const ask = async (other: () => Promise<Answer<Result>>): Promise<boolean> => {
    const question = ++latest.current;
    setAsked((before) => ({
      ...NOTHING_ASKED,
      answer: before.about === about ? before.answer : null,
      about,
    }));
    const result = await other();
    if (question !== latest.current) return false;
    setAsked((before) => ({
      loading: false,
      answer: result.ok ? result.value : before.answer,
      failure: result.ok ? null : result.failure,
      about,
    }));
    return result.ok;
  };
  const again = async () => {
    await ask(work);
  };
  useEffect(() => {
    void again();
    return () => {
      latest.current += 1;
    };
  }, [about]);
  return { ...(asked.about === about ? asked : { ...asked, ...NOTHING_ASKED }), ask, again };
}

interface AnsweredProps<Result> extends Pick<FailureNoticeProps, "shown"> {
  asked: Asked<Result>;
  children: (answer: Result) => ComponentChildren;
}

/** Shows the result of a request, a placeholder before it arrives, and a notice if the request failed. */
export function Answered<Result>({ asked, shown, children }: AnsweredProps<Result>) {
  const { answer, failure, again } = asked;
  return (
    <>
      {failure !== null && <FailureNotice failure={failure} shown={shown} onRetry={again} />}
      {answer === null && failure === null && <Loading />}
      {answer !== null && children(answer)}
    </>
  );
}
