import type { Revision } from "@ostiary/lib/contracts/registry-api";
import { listChanges, type MarkedChange, markChanges, type OutOfBounds } from "@ostiary/lib/domain/routes";
import { Button, Empty, Loaded, type RequestState, Rows, SelectField, Time } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { fragmentOf } from "../console-address.ts";
import { useOperator, useRequest, useSession } from "../console-session.ts";
import { WhyNot } from "../operator/out-of-bounds.tsx";
import { mayWrite, outOfBounds } from "../operator/permissions.ts";
import { DONE, Note } from "../parts/shown.tsx";
import { WriteDialog } from "../parts/write-dialog.tsx";
import { compareRevisions, listRevisions, listServices, restoreRevision } from "../registry/calls.ts";
import { Changes, ReviewSummary } from "../review/review.tsx";

interface RevisionsViewProps {
  service: string;
  /** The selected revision; null selects the newest one. */
  revision: number | null;
}

export function RevisionsView({ service, revision }: RevisionsViewProps) {
  const request = useRequest((registry) => listRevisions(registry, service), service);
  if (request.failure?.kind === "missing") {
    return (
      <Empty title={`There has never been a service ${service}.`}>
        <a class="button" href={fragmentOf({ name: "services" })}>
          All services
        </a>
      </Empty>
    );
  }
  return (
    <>
      <p class="lead">
        <a href={fragmentOf({ name: "service", service })}>{service}</a> · each change creates a revision, and
        revisions never change
      </p>
      <Loaded request={request}>
        {(entries) => (
          <History service={service} revision={revision} entries={entries} onChanged={request.reload} />
        )}
      </Loaded>
    </>
  );
}

interface HistoryProps extends RevisionsViewProps, Pick<ShownProps, "entries" | "onChanged"> {}

function History({ service, revision, entries, onChanged }: HistoryProps) {
  const [newest] = entries;
  if (newest === undefined) return null;
  const shown = revision === null ? newest : entries.find((entry) => entry.revision === revision);
  return (
    <div class="history">
      <nav aria-label="Revisions" class="entries">
        <Rows rows={entries} least={shown === undefined ? 0 : entries.indexOf(shown) + 1}>
          {(rows) => (
            <ol>
              {rows.map((entry) => (
                <li key={entry.revision}>
                  <a
                    href={fragmentOf({ name: "revisions", ...entry })}
                    aria-current={entry === shown ? "true" : undefined}
                  >
                    <b>Revision {entry.revision}</b>{" "}
                    <span class={`quiet did-${entry.action}`}>{actionText(entry)}</span>
                    <span class="below quiet small">
                      <Time at={entry.created_at} />
                    </span>
                  </a>
                </li>
              ))}
            </ol>
          )}
        </Rows>
      </nav>
      {shown === undefined ? (
        <Empty title={`${service} has no revision ${revision}.`} />
      ) : (
        <Shown key={shown.revision} entries={entries} shown={shown} newest={newest} onChanged={onChanged} />
      )}
    </div>
  );
}

function actionText({ action, restored_from }: Revision): string {
  return restored_from === null ? DONE[action] : `${DONE[action]} from ${restored_from}`;
}

/** Returns the parts of a restore that the operator may not publish, or null while they are not known. */
function useRestoreBounds({ service, revision, config }: Revision): readonly OutOfBounds[] | null {
  const operator = useOperator();
  const { value, failure } = useRequest(
    async (registry) => {
      if (operator.role !== "publisher") return [];
      const { services } = await listServices(registry);
      return outOfBounds(operator, service, { published: services, restored: config });
    },
    JSON.stringify([operator, service, revision]),
  );
  return failure === null ? value : [];
}

interface ShownProps {
  entries: readonly Revision[];
  shown: Revision;
  newest: Revision;
  onChanged: () => Promise<void>;
}

function Shown({ entries, shown, newest, onChanged }: ShownProps) {
  const { revision, action, request_id, operator, reason, link } = shown;
  const [from, setFrom] = useState(revision - 1);
  const [restoring, setRestoring] = useState(false);
  const missing = useRestoreBounds(shown);
  const comparison = useComparison(from, shown);
  const isRestorable = mayWrite(useOperator()) && shown !== newest && action !== "delete";
  return (
    <section class="revision" aria-labelledby="revision">
      <div class="lead">
        <h2 id="revision">
          Revision {revision} {shown === newest && <span class="tag">newest</span>}
        </h2>
        {isRestorable && missing?.length === 0 && (
          <Button onClick={() => setRestoring(true)}>Restore revision {revision} …</Button>
        )}
      </div>
      {isRestorable && missing !== null && missing.length > 0 && (
        <WhyNot write={`restore revision ${revision}`} missing={missing} />
      )}
      <p class="quiet small">
        {actionText(shown)} on <Time at={shown.created_at} />
        {operator !== null && (
          <>
            {" "}
            by <b>{operator}</b>
          </>
        )}
        , request <code>{request_id}</code>
      </p>
      {(reason !== null || link !== null) && (
        <p class="small">
          <Note reason={reason} link={link} />
        </p>
      )}
      {entries.length > 1 && (
        <SelectField
          label="Compared with"
          value={String(from)}
          options={[
            ...(revision === 1 ? [{ value: "0", text: "nothing" }] : []),
            ...entries
              .filter((entry) => entry !== shown)
              .map((entry) => ({ value: String(entry.revision), text: `revision ${entry.revision}` })),
          ]}
          onInput={(chosen) => setFrom(Number(chosen))}
        />
      )}
      <Comparison request={comparison} />
      {restoring && (
        <RestoreDialog
          shown={shown}
          newest={newest.revision}
          onClose={() => setRestoring(false)}
          onChanged={onChanged}
        />
      )}
    </section>
  );
}

interface RestoreDialogProps extends Pick<ShownProps, "shown" | "onChanged"> {
  /** The newest revision that the page has loaded. */
  newest: number;
  onClose: () => void;
}

/** Restores the revision with exactly the changes that it shows, or not at all. */
function RestoreDialog({ shown, newest, onClose, onChanged }: RestoreDialogProps) {
  const { service, revision } = shown;
  const session = useSession();
  const comparison = useComparison(newest, shown);
  // A restore also replaces a newest revision that the registry cannot read, and so cannot compare.
  const isReady = comparison.value !== null || comparison.failure?.kind === "conflict";
  return (
    <WriteDialog
      title={`Restore revision ${revision} of ${service}?`}
      leave="Keep the newest revision"
      confirm={`Restore as revision ${newest + 1}`}
      isReady={isReady}
      mayHave="The registry may have restored the revision"
      write={(registry, options) => restoreRevision(registry, service, { revision, newest, ...options })}
      onDone={async (restored, isLeft) => {
        session.announce(
          `Revision ${revision} of ${service} is current again, as revision ${restored.revision}.`,
        );
        if (isLeft) return;
        onClose();
        await onChanged();
        location.hash = fragmentOf({ name: "revisions", service, revision: restored.revision });
      }}
      onReload={() => {
        onClose();
        void onChanged();
      }}
      onClose={onClose}
    >
      <p>
        To restore revision {revision}, the registry makes these changes to the newest revision ({newest}).
      </p>
      <Comparison request={comparison} />
    </WriteDialog>
  );
}

/** Compares a revision with `from`. 0 stands for the empty state before the first revision. */
function useComparison(from: number, { service, revision, config }: Revision) {
  return useRequest(
    async (registry) =>
      from > 0 ? compareRevisions(registry, service, from, revision) : markChanges(listChanges(null, config)),
    `${service} ${from} ${revision}`,
  );
}

function Comparison({ request }: { request: RequestState<MarkedChange[]> }) {
  return (
    <Loaded request={request}>
      {(changes) =>
        changes.length === 0 ? (
          <Empty title="There are no changes." />
        ) : (
          <>
            <ReviewSummary changes={changes} />
            <Changes changes={changes} label="Changes" />
          </>
        )
      }
    </Loaded>
  );
}
