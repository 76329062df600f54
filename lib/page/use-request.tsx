import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Failure, Result } from "./failure.ts";
import { FailureNotice, type FailureNoticeProps } from "./notice.tsx";
import { Loading } from "./shown.tsx";

/** The state of a repeatable request. During a repetition, `value` is still that of the last run. */
export interface RequestState<Value> {
  readonly loading: boolean;
  readonly value: Value | null;
  readonly failure: Failure | null;
  reload(): Promise<void>;
}

const PENDING = { loading: true, value: null, failure: null };

/**
 * Runs `work` on the first render, when `about` changes, and on `reload`; runs other work for the same state on `run`,
 * which returns whether it succeeded. Ignores a run that a newer one overtook.
 */
export function useRequest<Value>(work: () => Promise<Result<Value>>, about: string) {
  const [state, setState] = useState<Omit<RequestState<Value>, "reload"> & { about: string }>({
    ...PENDING,
    about,
  });
  const latest = useRef(0);
  const run = async (other: () => Promise<Result<Value>>): Promise<boolean> => {
    const attempt = ++latest.current;
    setState((before) => ({
      ...PENDING,
      value: before.about === about ? before.value : null,
      about,
    }));
    const result = await other();
    if (attempt !== latest.current) return false;
    setState((before) => ({
      loading: false,
      value: result.ok ? result.value : before.value,
      failure: result.ok ? null : result.failure,
      about,
    }));
    return result.ok;
  };
  const reload = async () => {
    await run(work);
  };
  useEffect(() => {
    void reload();
    return () => {
      latest.current += 1;
    };
  }, [about]);
  return { ...(state.about === about ? state : { ...state, ...PENDING }), run, reload };
}

interface LoadedProps<Value> extends Pick<FailureNoticeProps, "shown"> {
  /** The title of the notice about a failed run that leaves the value of an earlier one. */
  stale?: string;
  request: RequestState<Value>;
  children: (value: Value) => ComponentChildren;
}

/** Shows the result of a request, a placeholder before it arrives, and a notice if the request failed. */
export function Loaded<Value>({ request, shown, stale, children }: LoadedProps<Value>) {
  const { value, failure, reload } = request;
  return (
    <>
      {failure !== null && (
        <FailureNotice
          failure={failure}
          title={value === null ? undefined : stale}
          shown={shown}
          onRetry={reload}
        />
      )}
      {value === null && failure === null && <Loading />}
      {value !== null && children(value)}
    </>
  );
}
