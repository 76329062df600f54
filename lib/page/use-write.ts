import { useRef, useState } from "preact/hooks";
import type { Failure, Result } from "./failure.ts";

interface Writing {
  readonly busy: boolean;
  readonly failure: Failure | null;
  /** Makes a change. Does nothing while another change is in flight, so a double click writes only once. */
  write<Value>(work: () => Promise<Result<Value>>, done: (value: Value) => void): Promise<void>;
  clear(): void;
}

export function useWrite(): Writing {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const underway = useRef(false);
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
      if (result.ok) done(result.value);
      else setFailure(result.failure);
    },
    clear: () => setFailure(null),
  };
}
