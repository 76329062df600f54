import { useEffect, useRef, useState } from "preact/hooks";
import type { Failure, Result } from "./failure.ts";

/**
 * Called after a change. `isLeft` is true if the person left the form or dialog while the change was in flight, for
 * example with the back button of the browser. The page must then stay where the person is.
 */
export type Done<Value> = (value: Value, isLeft: boolean) => void;

interface Writing {
  readonly busy: boolean;
  readonly failure: Failure | null;
  /** Makes a change. Does nothing while another change is in flight, so a double click writes only once. */
  write<Value>(work: () => Promise<Result<Value>>, done: Done<Value>): Promise<void>;
  clear(): void;
}

/**
 * @param onLost called with the failure of a change whose form or dialog the person has left, where no notice shows it
 */
export function useWrite(onLost: (failure: Failure) => void = () => {}): Writing {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const underway = useRef(false);
  const isLeft = useRef(false);
  useEffect(
    () => () => {
      isLeft.current = true;
    },
    [],
  );
  return {
    busy,
    failure,
    async write(work, done) {
      if (underway.current) return;
      underway.current = true;
      setBusy(true);
      setFailure(null);
      const result = await work();
      underway.current = false;
      setBusy(false);
      if (result.ok) done(result.value, isLeft.current);
      else if (isLeft.current) onLost(result.failure);
      else setFailure(result.failure);
    },
    clear: () => setFailure(null),
  };
}
