import { fragmentOf } from "../address.ts";
import type { Failure, FailureKind } from "../registry/failure.ts";
import { Said } from "./shown.tsx";

const TITLES: Record<FailureKind, string> = {
  refused: "The registry refused the admin token",
  away: "The registry is away",
  invalid: "The registry can not take this",
  conflict: "Another service has these routes",
  stale: "Somebody else changed it meanwhile",
  missing: "There is no such thing",
  strange: "Something unexpected was answered",
};

interface FailureNoticeProps {
  failure: Failure;
  /** What stands in place of the usual title. */
  title?: string;
  onRetry?: () => void;
  retryLabel?: string;
}

/** What went wrong and what can be done, told at once to a screen reader. */
export function FailureNotice({ failure, title, onRetry, retryLabel = "Try again" }: FailureNoticeProps) {
  const { kind, message, fields, conflicts, request_id } = failure;
  return (
    <div class={`notice notice-${kind === "stale" || kind === "conflict" ? "warn" : "bad"}`} role="alert">
      <p class="notice-title">{title ?? TITLES[kind]}</p>
      {kind !== "conflict" && (
        <p>
          <Said text={kind === "stale" ? STALE : message} />
        </p>
      )}
      {fields.length > 0 && (
        <ul class="faults">
          {fields.map(({ path, message: fault }) => (
            <li key={path + fault}>
              {path !== "" && <code>{path}</code>} <Said text={fault} />
            </li>
          ))}
        </ul>
      )}
      {conflicts.length > 0 && (
        <>
          <p>A route belongs to one service. Nothing was written.</p>
          <ul class="faults">
            {conflicts.map(({ service, method, path, owner, owner_path }) => (
              <li key={`${method} ${path}`}>
                <code>
                  {method} {path}
                </code>{" "}
                of {service} belongs to <a href={fragmentOf({ name: "service", service: owner })}>{owner}</a>
                {owner_path !== undefined && owner_path !== path && (
                  <>
                    {" "}
                    as <code>{owner_path}</code>
                  </>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {request_id !== null && kind !== "invalid" && kind !== "conflict" && (
        <p class="quiet small">
          Request <code>{request_id}</code>
        </p>
      )}
      {onRetry && (
        <button type="button" class="button" onClick={onRetry}>
          {retryLabel}
        </button>
      )}
    </div>
  );
}

const STALE =
  "What you looked at is not what is current now. Nothing was written: look at it again, then decide.";
