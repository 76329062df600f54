import { LoadingBars } from "@ostiary/lib/page";
import { useFormats, useTexts } from "../texts/texts.ts";

export function Loading() {
  return <LoadingBars text={useTexts().loading} />;
}

/** Shows a time in the browser's time zone and the page's language. */
export function Time({ at }: { at: string }) {
  const { time } = useFormats();
  return <time dateTime={at}>{time(at)}</time>;
}
