import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import type { Failure } from "./failure.ts";
import { usePageTexts } from "./page-texts.ts";
import type { SignedOut } from "./sign-in/page-session.ts";

interface NoticeProps {
  tone?: "good" | "warn" | "bad";
  title?: ComponentChildren;
  role?: "alert" | "status" | "note";
  children?: ComponentChildren;
}

/** Shows a message in a box. With the role `alert`, screen readers announce it at once. */
export function Notice({ tone, title, role, children }: NoticeProps) {
  return (
    <div class={tone === undefined ? "notice" : `notice notice-${tone}`} role={role}>
      {title !== undefined && <p class="notice-title">{title}</p>}
      {children}
    </div>
  );
}

export interface FailureNoticeProps {
  failure: Failure;
  /** A title that replaces the page's own for this failure. */
  title?: string;
  /** A sentence that replaces the page's own for this failure. */
  text?: string;
  /** The names of the fields that show their own problems, which the notice therefore omits. */
  shown?: readonly string[] | undefined;
  onRetry?: () => void;
  retryLabel?: string;
}

export function FailureNotice({ failure, title, text, shown = [], onRetry, retryLabel }: FailureNoticeProps) {
  const { texts, formats, signIn, ...pageTexts } = usePageTexts();
  const { kind, fields, request_id, retry_after_seconds } = failure;
  const explained = pageTexts.explain(failure);
  const sentence = text ?? explained.text;
  const others = fields.filter(({ path }) => !shown.includes(path));
  return (
    <Notice tone={explained.tone} title={title ?? explained.title} role="alert">
      {sentence !== "" && <p>{sentence}</p>}
      {text === undefined && explained.more}
      {others.length > 0 && (
        <ul class="problems">
          {others.map((field) => (
            <li key={field.path + field.message}>{pageTexts.problem(field)}</li>
          ))}
        </ul>
      )}
      {retry_after_seconds !== null && <p>{texts.retryIn(formats.duration(retry_after_seconds))}</p>}
      {request_id !== null && kind !== "invalid" && (
        <p class="quiet small">
          {texts.request} <code>{request_id}</code>
        </p>
      )}
      {kind === "signed_out" && signIn !== undefined ? (
        <Button onClick={signIn.run}>{signIn.text}</Button>
      ) : (
        onRetry && <Button onClick={onRetry}>{retryLabel ?? texts.again}</Button>
      )}
    </Notice>
  );
}

interface SignedOutNoticeProps {
  why: SignedOut;
  texts: Readonly<Partial<Record<SignedOut["reason"], string>>>;
  children?: ComponentChildren;
}

export function SignedOutNotice({ why: { reason, detail = "" }, texts, children }: SignedOutNoticeProps) {
  const isNews = reason === "out" || reason === "ended" || reason === "token";
  return (
    <Notice tone={isNews ? "warn" : "bad"} role={reason === "out" ? "status" : "alert"}>
      <p>{texts[reason] ?? detail}</p>
      {reason === "refused" && detail !== "" && <p class="quiet small">{detail}</p>}
      {children}
    </Notice>
  );
}
