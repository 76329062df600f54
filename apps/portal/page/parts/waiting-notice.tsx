import { Notice } from "@ostiary/lib/page";
import { useEffect, useState } from "preact/hooks";
import { useSession } from "../page-session.ts";
import { useTexts } from "../texts/texts.ts";

const TICK_MS = 1_000;

/** Shows that calls wait because of a rate limit, and for how long. */
export function WaitingNotice() {
  const waiting = useSession().gateway.waiting.value;
  const texts = useTexts();
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (waiting === null) return;
    setNow(Date.now());
    const ticking = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(ticking);
  }, [waiting]);
  if (waiting === null) return null;
  const seconds = Math.max(1, Math.ceil((waiting.untilMs - now) / 1_000));
  return (
    <Notice tone="warn" role="status">
      <p>{texts.waiting(seconds)}</p>
      {waiting.limit !== null && (
        <p class="quiet small">{texts.limit(waiting.limit, waiting.remaining ?? "0")}</p>
      )}
    </Notice>
  );
}
