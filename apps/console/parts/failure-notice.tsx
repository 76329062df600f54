import { Button } from "@ostiary/lib/page";
import { fragmentOf } from "../address.ts";
import { OutOfBoundsList } from "../operator/out-of-bounds.tsx";
import type { Failure, FailureKind } from "../registry/failure.ts";
import { Said } from "./shown.tsx";

const TITLES: Record<FailureKind, string> = {
  refused: "The registry refused the token",
  provider: "Your sign-in cannot be renewed now",
  forbidden: "You are not allowed to make this change",
  away: "The registry does not answer",
  invalid: "The input is not valid",
  conflict: "Another service owns these routes",
  stale: "Another change came first",
  unreadable: "The registry cannot read this revision",
  missing: "Not found",
  strange: "Unexpected response",
};

export interface FailureNoticeProps {
  failure: Failure;
  /** A title that replaces the default title for the failure's kind. */
  title?: string;
  onRetry?: () => void;
  retryLabel?: string;
}

/** Shows what went wrong and what to do. Its alert role makes screen readers announce the notice at once. */
export function FailureNotice({ failure, title, onRetry, retryLabel = "Try again" }: FailureNoticeProps) {
  const { kind, fields, conflicts, missing, request_id } = failure;
  return (
    <div class={`notice notice-${kind === "stale" || kind === "conflict" ? "warn" : "bad"}`} role="alert">
      <p class="notice-title">{title ?? TITLES[kind]}</p>
      {kind !== "conflict" && (
        <p>
          <Said text={textOf(failure)} />
        </p>
      )}
      {missing.length > 0 && <OutOfBoundsList missing={missing} />}
      {fields.length > 0 && (
        <ul class="problems">
          {fields.map(({ path, message: violation }) => (
            <li key={path + violation}>
              {path !== "" && <code>{path}</code>} <Said text={violation} />
            </li>
          ))}
        </ul>
      )}
      {conflicts.length > 0 && <Conflicts conflicts={conflicts} />}
      {request_id !== null && kind !== "invalid" && kind !== "conflict" && (
        <p class="quiet small">
          Request <code>{request_id}</code>
        </p>
      )}
      {onRetry && <Button onClick={onRetry}>{retryLabel}</Button>}
    </div>
  );
}

function Conflicts({ conflicts }: Pick<Failure, "conflicts">) {
  return (
    <>
      <p>Only one service can own a route. Nothing was written.</p>
      <ul class="problems">
        {conflicts.map(({ service, method, path, owner, owner_path = path }) => (
          <li key={`${method} ${path}`}>
            <code>
              {method} {path}
            </code>{" "}
            of {service} belongs to <a href={fragmentOf({ name: "service", service: owner })}>{owner}</a>
            {owner_path !== path && (
              <>
                {" "}
                as <code>{owner_path}</code>
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

/**
 * Returns the registry's message. Returns a text of this page for stale data, and for a write of services or
 * paths that the operator may not publish.
 */
function textOf({ kind, message, missing }: Failure): string {
  if (kind === "stale") return STALE;
  return missing.length > 0 ? "Nothing was written. Your permissions do not include:" : message;
}

const STALE =
  "Nothing was written, because this page shows old data. Load the current data, and repeat the change if you still need it.";
