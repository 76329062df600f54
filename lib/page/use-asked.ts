import { useEffect, useRef, useState } from "preact/hooks";

/** The state of a repeatable request. During a repetition, `answer` is still the last result. */
export interface Asked<Answer, Failure> {
  readonly loading: boolean;
  readonly answer: Answer | null;
  readonly failure: Failure | null;
}

type Result<Answer, Failure> = { ok: true; value: Answer } | { ok: false; failure: Failure };

const NOTHING = { loading: true, answer: null, failure: null };

/**
 * Runs `work` on the first render, when `about` changes, and when `again` is called. Ignores the result of a
 * run if a newer run has started.
 */
export function useAsked<Answer, Failure>(
  work: () => Promise<Result<Answer, Failure>>,
  about: string,
): Asked<Answer, Failure> & { again(): Promise<void> } {
  const [asked, setAsked] = useState<Asked<Answer, Failure> & { about: string }>({ ...NOTHING, about });
  /** The number of the latest run. */
  const latest = useRef(0);
  const again = async () => {
    const question = ++latest.current;
    setAsked((before) => ({ ...NOTHING, answer: before.about === about ? before.answer : null, about }));
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
  return { ...(asked.about === about ? asked : NOTHING), again };
}
