import { useFormats, useTexts } from "../texts/texts.ts";

/** Shows a placeholder after a short delay, so that a fast response causes no flicker. */
export function Loading() {
  const { loading } = useTexts();
  return (
    <div class="loading" role="status">
      <p>{loading}</p>
      <div class="bar" />
      <div class="bar" />
      <div class="bar" />
    </div>
  );
}

/** Shows a time in the browser's time zone and the page's language. */
export function Time({ at }: { at: string }) {
  const { time } = useFormats();
  return <time dateTime={at}>{time(at)}</time>;
}
