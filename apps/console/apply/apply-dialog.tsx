import type { Applied, DryRunService, GivenNote } from "@ostiary/lib/contracts/registry-api";
import { Button, Empty } from "@ostiary/lib/page";
import { useOperator, useSession } from "../console-session.ts";
import { mayWrite } from "../operator/permissions.ts";
import { counted } from "../parts/shown.tsx";
import { WriteDialog } from "../parts/write-dialog.tsx";
import { applyDocument, type Review } from "../registry/calls.ts";
import { Changes, ReviewSummary } from "../review/review.tsx";

interface ApplyDialogProps {
  document: string;
  review: Review;
  /** The reason and the link that the operator entered. A new review closes the dialog but keeps the note. */
  note: readonly [note: GivenNote, onNote: (note: GivenNote) => void];
  onClose: () => void;
  onReview: () => void;
  onDone: (applied: Applied) => void;
}

/** Asks the operator to confirm the reviewed changes, and applies exactly these changes or nothing. */
export function ApplyDialog({ document, review, note, onClose, onReview, onDone }: ApplyDialogProps) {
  const session = useSession();
  const changed = review.services.filter(({ changes }) => changes.length > 0);
  const changes = changed.flatMap((service) => service.changes);
  return (
    <WriteDialog
      title={`Apply ${counted(changes.length, "change")}?`}
      leave="Change nothing"
      confirm={`Apply to ${counted(changed.length, "service")}`}
      mayHave="The registry may have applied the document"
      note={note}
      write={(registry, options) => applyDocument(registry, document, { tag: review.tag, ...options })}
      onDone={(applied) => {
        session.announce("The document is applied.");
        onDone(applied);
      }}
      // A new review of a document that was applied has no changes.
      onReload={onReview}
      reloadLabel="Review again"
      onClose={onClose}
    >
      <ReviewSummary changes={changes} />
      <ServiceReviews services={changed} />
    </WriteDialog>
  );
}

interface ReviewedDocumentProps {
  review: Review;
  /** Whether a newer review is in flight, so that this one cannot be applied. */
  busy: boolean;
  onApply: () => void;
}

/** Shows what a document would change, service by service. */
export function ReviewedDocument({ review, busy, onApply }: ReviewedDocumentProps) {
  const { services } = review;
  const operator = useOperator();
  const changed = services.filter(({ changes }) => changes.length > 0);
  const unchanged = services.length - changed.length;
  if (changed.length === 0) {
    return (
      <Empty title="Nothing would change.">
        <p>Everything in the document is already published.</p>
      </Empty>
    );
  }
  return (
    <section class="reviewed" aria-labelledby="review">
      <div class="lead">
        <div>
          <h2 id="review">What would change</h2>
          <ReviewSummary changes={changed.flatMap(({ changes }) => changes)} />
        </div>
        {mayWrite(operator) ? (
          <Button look="main" aria-disabled={busy} onClick={() => !busy && onApply()}>
            Apply …
          </Button>
        ) : (
          <p class="quiet">{operator.name} is a reader and cannot apply the document.</p>
        )}
      </div>
      <ServiceReviews services={changed} />
      {unchanged > 0 && (
        <p class="quiet">{counted(unchanged, "service")} of the document would not change.</p>
      )}
    </section>
  );
}

function ServiceReviews({ services }: { services: readonly DryRunService[] }) {
  return (
    <>
      {services.map(({ service, status, revision, changes }) => (
        <section key={service} class="review">
          <h3>
            {service} <span class={`tag tone-${status === "created" ? "good" : "warn"}`}>{status}</span>{" "}
            <span class="quiet small">
              {revision === null ? "not published" : `current revision: ${revision}`}
            </span>
          </h3>
          <Changes changes={changes} label={`Changes of ${service}`} />
        </section>
      ))}
    </>
  );
}
