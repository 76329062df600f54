import { type ComponentChildren, Fragment } from "preact";
import { usePageTexts } from "./page-texts.ts";

/** Shows that a list or view is empty, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Shows names with their values. Leaves out the names without a value. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(
        ([name, value]) =>
          value !== null &&
          value !== undefined && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** Shows a placeholder after a short delay, so that a fast response causes no flicker. */
export function Loading() {
  const { texts } = usePageTexts();
  return (
    <div class="loading" role="status">
      {texts.loading}
    </div>
  );
}

/** Shows a time in the browser's time zone and the page's language. A tooltip has the time in UTC. */
export function Time({ at }: { at: string }) {
  const { formats } = usePageTexts();
  return (
    <time dateTime={at} title={at}>
      {formats.time(at)}
    </time>
  );
}

/** Shows a call such as `PATCH /org/members/{member_id}`, which wraps only after a slash or an underscore. */
export function Route({ text }: { text: string }) {
  return (
    <code>
      {text.split(/(?<=[/_])/).map((part, index) => (
        <Fragment key={index}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </code>
  );
}

/** Draws the logo: an arch with a keyhole. */
export function Logo() {
  return (
    <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <path d="M5 29V15a11 11 0 0 1 22 0v14z" fill="var(--accent)" />
      <circle cx="16" cy="15" r="3.6" fill="var(--surface)" />
      <path d="M14.4 16.5h3.2l1 8h-5.2z" fill="var(--surface)" />
    </svg>
  );
}
