import type { ComponentChildren } from "preact";
import { useFormats, useTexts } from "../texts/texts.ts";

/** Shows that a list or view is empty, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Shows a placeholder after a short delay, so that a fast answer does not flicker. */
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

/** Shows a time in the reader's zone and language. */
export function Time({ at }: { at: string }) {
  const { time } = useFormats();
  return <time dateTime={at}>{time(at)}</time>;
}
