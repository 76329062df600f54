import { useTexts } from "../texts/texts.ts";
import type { ShownEvent } from "./logs.ts";

/** Shows how a request ended. */
export function Outcome({ event: { outcome, status } }: { event: ShownEvent }) {
  const t = useTexts().audit;
  return (
    <span class={`outcome outcome-${outcome}`}>
      {t.outcomes[outcome]}
      {status !== null && ` (${status})`}
    </span>
  );
}
