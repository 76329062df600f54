import { Button } from "@ostiary/lib/page";
import type { Failure } from "../failure.ts";
import { useSession } from "../page-session.ts";
import { useFormats, useTexts } from "../texts/texts.ts";

interface FailureNoticeProps {
  failure: Failure;
  /** A title that replaces the default for the failure's kind. */
  title?: string;
  /** A sentence that replaces the default for the failure's kind. */
  text?: string;
  /** The names of the fields that show their own problems, which the notice therefore omits. */
  shown?: readonly string[];
  onRetry?: () => void;
  retryLabel?: string;
}

/** Shows what went wrong and what to do. Its alert role makes screen readers announce the notice at once. */
export function FailureNotice({ failure, title, text, shown = [], onRetry, retryLabel }: FailureNoticeProps) {
  const texts = useTexts();
  const session = useSession();
  const { kind, fields, request_id, retry_after_seconds, outcomeUnknown } = failure;
  const others = fields.filter(({ path }) => !shown.includes(path));
  const [says = "", advice = ""] = outcomeUnknown ? texts.unknown : texts.failures[kind];
  return (
    <div class={`notice notice-${outcomeUnknown || kind === "conflict" ? "warn" : "bad"}`} role="alert">
      <p class="notice-title">{title ?? says}</p>
      {(text ?? advice) !== "" && <p>{text ?? advice}</p>}
      {text === undefined && isSaid(failure) && <p>{failure.message}</p>}
      {others.length > 0 && (
        <ul class="problems">
          {others.map(({ path, message }) => (
            <li key={path + message}>{message}</li>
          ))}
        </ul>
      )}
      {retry_after_seconds !== null && <RetryAfter seconds={retry_after_seconds} />}
      {request_id !== null && kind !== "invalid" && (
        <p class="quiet small">
          {texts.request} <code>{request_id}</code>
        </p>
      )}
      {kind === "signed_out" ? (
        <Button onClick={() => session.signIn()}>{texts.account.again}</Button>
      ) : (
        onRetry && <Button onClick={onRetry}>{retryLabel ?? texts.again}</Button>
      )}
    </div>
  );
}

/** Returns whether the service's message says more than the page's own text. If so, the notice shows both. */
function isSaid({ kind, message, fields }: Failure): boolean {
  return message !== "" && (kind === "conflict" || (kind === "invalid" && fields.length === 0));
}

function RetryAfter({ seconds }: { seconds: number }) {
  const { retryIn } = useTexts();
  const { duration } = useFormats();
  return <p>{retryIn(duration(seconds))}</p>;
}
