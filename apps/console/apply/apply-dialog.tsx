import type { GivenNote } from "@ostiary/lib/contracts/registry-api";
import type { Failure } from "@ostiary/lib/page";
import { useSession, useWrite } from "../page-session.ts";
import { isAboutNote } from "../parts/note-fields.tsx";
import { counted } from "../parts/shown.tsx";
import { WriteDialog } from "../parts/write-dialog.tsx";
import { applyDocument, type Review, reviewDocument } from "../registry/calls.ts";
import { ReviewSummary } from "../review/review.tsx";
import type { Done } from "./applied-notice.tsx";
import { ServiceReviews } from "./reviewed-document.tsx";

interface ApplyDialogProps {
  document: string;
  review: Review;
  /** The reason and the link that the operator entered. A new review closes the dialog but keeps the note. */
  note: GivenNote;
  onNote: (note: GivenNote) => void;
  onClose: () => void;
  /** Starts a new review after a failed apply. */
  onReview: () => void;
  onDone: (done: Done) => void;
}

/** Asks the operator to confirm the reviewed changes, and applies exactly these changes or nothing. */
export function ApplyDialog(props: ApplyDialogProps) {
  const { document, review, note, onNote, onClose, onReview, onDone } = props;
  const session = useSession();
  const writing = useWrite();
  const changed = review.services.filter(({ changes }) => changes.length > 0);
  const changes = changed.flatMap((service) => service.changes);
  const apply = (wait: boolean) =>
    writing.write(
      (registry) => applyDocument(registry, document, { tag: review.tag, wait, note }),
      (applied) => {
        session.announce("The document is applied.");
        onDone({ applied });
      },
    );
  const findOut = useFindOut(writing, props);
  const isStuck = writing.failure !== null && !isAboutNote(writing.failure);
  const afterFailure = ({ kind, outcomeUnknown }: Failure) => {
    if (outcomeUnknown || kind === "away") {
      const title = "The registry may have applied the document";
      return { title, onRetry: findOut, retryLabel: "Check the outcome" };
    }
    return { onRetry: isStuck && kind !== "forbidden" ? onReview : undefined, retryLabel: "Review again" };
  };
  return (
    <WriteDialog
      title={`Apply ${counted(changes.length, "change")}?`}
      leave="Change nothing"
      confirm={`Apply to ${counted(changed.length, "service")}`}
      confirming="Applying …"
      isReady={!isStuck}
      writing={writing}
      afterFailure={afterFailure}
      note={note}
      onNote={onNote}
      onWrite={apply}
      onClose={onClose}
    >
      <ReviewSummary changes={changes} />
      <ServiceReviews services={changed} />
    </WriteDialog>
  );
}

/**
 * Returns a function that finds out whether an apply took effect although its response was lost. If a dry run
 * of the document reports no changes, the document is applied.
 */
function useFindOut(
  { write }: ReturnType<typeof useWrite>,
  { document, onReview, onDone }: ApplyDialogProps,
) {
  const session = useSession();
  return () =>
    write(
      (registry) => reviewDocument(registry, document),
      (now) => {
        const isApplied = now.services.every(({ status }) => status === "unchanged");
        session.announce(isApplied ? "The document was applied." : "The document was not applied.");
        if (isApplied) onDone({ applied: null });
        else onReview();
      },
    );
}
