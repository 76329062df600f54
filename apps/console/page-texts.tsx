import {
  ENGLISH,
  type Explanation,
  type Failure,
  type FailureKind,
  formatsOf,
  type PageTexts,
} from "@ostiary/lib/page";
import { fragmentOf } from "./console-address.ts";
import { PROVIDER_UNAVAILABLE } from "./console-session.ts";
import { OutOfBoundsList } from "./operator/out-of-bounds.tsx";
import { MessageText } from "./parts/shown.tsx";
import { conflictsOf, isStale, messageOf, missingOf } from "./registry/console-registry.ts";

/** The titles of failures by the code of the error, or else by their kind. */
const TITLES: Readonly<Record<FailureKind, string> & Record<string, string>> = {
  ROUTE_CONFLICT: "Another service owns these routes",
  PRECONDITION_FAILED: "Another change came first",
  [PROVIDER_UNAVAILABLE]: "Your sign-in cannot be renewed now",
  signed_out: "The registry refused the token",
  forbidden: "You are not allowed to make this change",
  missing: "Not found",
  conflict: "The registry cannot read this revision",
  invalid: "The input is not valid",
  limited: "Too many requests",
  unavailable: "The registry does not respond",
  unexpected: "Unexpected response",
};

export const PAGE_TEXTS: PageTexts = {
  formats: formatsOf("en-GB"),
  texts: ENGLISH,
  explain,
  problem: ({ path, message }) => (
    <>
      {path !== "" && <code>{path}</code>} <MessageText text={message} />
    </>
  ),
};

/** Explains a failure with the registry's message, or with a text of this page where it says more. */
function explain(failure: Failure): Explanation {
  const { kind, code } = failure;
  const conflicts = conflictsOf(failure);
  const missing = missingOf(failure);
  const isWarning = conflicts.length > 0 || isStale(failure) || kind === "conflict";
  return {
    title: TITLES[code ?? kind] ?? TITLES[kind],
    tone: isWarning ? "warn" : "bad",
    text: conflicts.length > 0 ? "Only one service can own a route. Nothing was written." : textOf(failure),
    more: (
      <>
        {conflicts.length > 0 && <Conflicts conflicts={conflicts} />}
        {missing.length > 0 && <OutOfBoundsList missing={missing} />}
      </>
    ),
  };
}

function textOf(failure: Failure) {
  if (isStale(failure)) return STALE;
  if (missingOf(failure).length > 0) return "Nothing was written. Your permissions do not include:";
  return <MessageText text={messageOf(failure)} />;
}

const STALE =
  "Nothing was written, because this page shows old data. Load the current data, and repeat the change if you still need it.";

function Conflicts({ conflicts }: { conflicts: ReturnType<typeof conflictsOf> }) {
  return (
    <ul class="problems">
      {conflicts.map(({ service, method, path, owner, owner_path }) => (
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
  );
}
