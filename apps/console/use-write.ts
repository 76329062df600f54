import { useState } from "preact/hooks";
import { useSession } from "./page-session.ts";
import type { Registry } from "./registry/client.ts";
import { asFailure, type Failure } from "./registry/failure.ts";

export interface Writing {
  readonly busy: boolean;
  readonly failure: Failure | null;
  /**
   * Runs a write, calls `done` with the response, and then reads all services again. If the write fails, sets
   * `failure` and reads nothing.
   */
  write<Answer>(work: (registry: Registry) => Promise<Answer>, done: (answer: Answer) => void): Promise<void>;
}

export function useWrite(): Writing {
  const session = useSession();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  return {
    busy,
    failure,
    async write(work, done) {
      setBusy(true);
      setFailure(null);
      try {
        const answer = await session.ask(work);
        setBusy(false);
        done(answer);
        await session.refresh();
      } catch (thrown) {
        setBusy(false);
        setFailure(asFailure(thrown));
      }
    },
  };
}
