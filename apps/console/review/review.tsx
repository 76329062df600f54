import {
  countEffects,
  type MarkedChange,
  type SettingChange,
  settingChanges,
  subjectOf,
  summaryOf,
} from "@ostiary/lib/domain/routes";
import { Rows } from "@ostiary/lib/page";
import { ScopeBadge } from "../parts/shown.tsx";

const SIGNS = {
  added: { sign: "+", tone: "tone-good" },
  removed: { sign: "−", tone: "tone-bad" },
  changed: { sign: "~", tone: "tone-warn" },
};

/** Says in one sentence how many changes there are, and how many open a route or break callers. */
export function ReviewSummary({ changes }: { changes: readonly MarkedChange[] }) {
  const counts = countEffects(changes);
  const tone = counts.opens + counts.breaks > 0 ? "review-summary-marked" : "";
  return <p class={`review-summary ${tone}`}>{summaryOf(changes.length, counts)}</p>;
}

/** Lists changes. Changes that open a route or break callers come first. */
export function Changes({ changes, label }: { changes: readonly MarkedChange[]; label: string }) {
  const sorted = changes.toSorted(
    (one, other) => Number(other.marks.length > 0) - Number(one.marks.length > 0),
  );
  return (
    <Rows rows={sorted}>
      {(rows) => (
        <ol class="changes" aria-label={label}>
          {rows.map((change, index) => (
            <ChangeRow key={index} change={change} />
          ))}
        </ol>
      )}
    </Rows>
  );
}

function ChangeRow({ change }: { change: MarkedChange }) {
  const { action, marks } = change;
  const subject = subjectOf(change);
  const settings = settingChanges(change);
  return (
    <li class="change">
      <span class={`sign ${SIGNS[action].tone}`} aria-hidden="true">
        {SIGNS[action].sign}
      </span>
      <div class="change-body">
        <p class="change-head">
          <span class="sr">{action}: </span>
          {subject.method === null ? (
            <strong>{subject.name}</strong>
          ) : (
            <>
              <code>
                <b>{subject.method}</b> {subject.path}
              </code>{" "}
              <ScopeBadge scope={subject.scope} />
            </>
          )}
        </p>
        {settings.length > 0 && (
          <dl class="settings">
            {settings.map((setting) => (
              <Setting key={setting.name} setting={setting} named={subject.method !== null} />
            ))}
          </dl>
        )}
        {marks.length > 0 && (
          <ul class="marks">
            {marks.map(({ effect, reason }) => (
              <li key={reason} class={`mark ${effect === "opens" ? "mark-opens" : "tone-bad"}`}>
                <b>{effect === "opens" ? "Opens" : "Breaks"}</b> {reason}
              </li>
            ))}
          </ul>
        )}
      </div>
    </li>
  );
}

function Setting({ setting: { name, before, after }, named }: { setting: SettingChange; named: boolean }) {
  return (
    <div>
      <dt class={named ? "" : "sr"}>{name}</dt>
      <dd>
        {before !== null && after !== null ? (
          <>
            <del class="tone-bad">{before}</del> <span aria-hidden="true">→</span>{" "}
            <ins class="tone-good">{after}</ins>
          </>
        ) : (
          <span>{before ?? after}</span>
        )}
      </dd>
    </div>
  );
}
