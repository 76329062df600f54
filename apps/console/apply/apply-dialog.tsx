import type { GivenNote } from "@ostiary/lib/contracts/registry-api";
import { Dialog } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { FailureNotice } from "../parts/failure-notice.tsx";
import { isAboutNote, NoteFields } from "../parts/note-fields.tsx";
import { counted } from "../parts/shown.tsx";
import { WaitChoice } from "../parts/written.tsx";
import { applyDocument, type Review, reviewDocument } from "../registry/calls.ts";
import { ReviewSummary } from "../review/review.tsx";
import { useSession } from "../session.ts";
import { useWrite } from "../write.ts";
import type { Done } from "./applied-notice.tsx";
import { ServiceReviews } from "./reviewed-document.tsx";

interface ApplyDialogProps {
  document: string;
  review: Review;
  /** Why the document is applied. It stays when the dialog closes for another review. */
  note: GivenNote;
  onNote: (note: GivenNote) => void;
  onClose: () => void;
  /** Starts a new review, when the shown one is stale. */
  onReview: () => void;
  onDone: (done: Done) => void;
}

/** Shows the changes once more, and applies exactly these changes or nothing. */
export function ApplyDialog({ document, review, note, onNote, onClose, onReview, onDone }: ApplyDialogProps) {
  const session = useSession();
  const [wait, setWait] = useState(true);
  const { busy, failure, write } = useWrite();
  const changed = review.services.filter(({ changes }) => changes.length > 0);
  const changes = changed.flatMap((service) => service.changes);
  const apply = () =>
    write(
      (registry) => applyDocument(registry, document, { tag: review.tag, wait, note }),
      (applied) => {
        session.announce("The document is applied.");
        onDone({ applied });
      },
    );
  /** Finds out whether an unanswered apply was carried out: an applied document would change nothing. */
  const findOut = () =>
    write(
      (registry) => reviewDocument(registry, document),
      (now) => {
        const isApplied = now.services.every(({ status }) => status === "unchanged");
        session.announce(isApplied ? "It was applied." : "It was not applied.");
        if (isApplied) onDone({ applied: null });
        else onReview();
      },
    );
  const isStuck = failure !== null && !isAboutNote(failure);
  const unknown = failure !== null && (failure.outcome_unknown || failure.kind === "away");
  return (
    <Dialog
      title={`Apply ${counted(changes.length, "change")}?`}
      busy={busy}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" aria-disabled={busy} onClick={() => !busy && onClose()}>
            Change nothing
          </button>
          <button
            type="button"
            class="button button-main"
            aria-disabled={busy || isStuck}
            onClick={() => !busy && !isStuck && apply()}
          >
            {busy ? "Applying …" : `Apply to ${counted(changed.length, "service")}`}
          </button>
        </>
      }
    >
      <ReviewSummary changes={changes} />
      <ServiceReviews services={changed} />
      {failure !== null && (
        <FailureNotice
          failure={failure}
          title={unknown ? "The registry may have applied the document" : undefined}
          onRetry={unknown ? findOut : isStuck && failure.kind !== "forbidden" ? onReview : undefined}
          retryLabel={unknown ? "Find out" : "Review it again"}
        />
      )}
      <NoteFields note={note} onChange={onNote} failure={failure} />
      <WaitChoice wait={wait} onChange={setWait} />
    </Dialog>
  );
}
