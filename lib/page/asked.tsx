import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Failure, Result } from "./failure.ts";
import { FailureNotice, type FailureNoticeProps } from "./notice.tsx";
import { Loading } from "./shown.tsx";

/** The state of a repeatable request. During a repetition, `value` is still that of the last run. */
export interface Asked<Value> {
  readonly loading: boolean;
  readonly value: Value | null;
  readonly failure: Failure | null;
  again(): Promise<void>;
}

const NOTHING_ASKED = { loading: true, value: null, failure: null };

/**
 * Runs `work` on the first render, when `about` changes, and on `again`; runs other work for the same state on `ask`,
 * which returns whether it succeeded. Ignores a run that a newer one overtook.
 */
export function useAsked<Value>(work: () => Promise<Result<Value>>, about: string) {
  const [asked, setAsked] = useState<Omit<Asked<Value>, "again"> & { about: string }>({
    ...NOTHING_ASKED,
    about,
  });
  const latest = useRef(0);
  const ask = async (other: () => Promise<Result<Value>>): Promise<boolean> => {
    const question = ++latest.current;
    setAsked((before) => ({
      ...NOTHING_ASKED,
      value: before.about === about ? before.value : null,
      about,
    }));
    const result = await other();
    if (question !== latest.current) return false;
    setAsked((before) => ({
      loading: false,
      value: result.ok ? result.value : before.value,
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

interface LoadedProps<Value> extends Pick<FailureNoticeProps, "shown"> {
  asked: Asked<Value>;
  children: (value: Value) => ComponentChildren;
}

/** Shows the result of a request, a placeholder before it arrives, and a notice if the request failed. */
export function Loaded<Value>({ asked, shown, children }: LoadedProps<Value>) {
  const { value, failure, again } = asked;
  return (
    <>
      {failure !== null && <FailureNotice failure={failure} shown={shown} onRetry={again} />}
      {value === null && failure === null && <Loading />}
      {value !== null && children(value)}
    </>
  );
}
