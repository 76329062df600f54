import type { GivenNote } from "@ostiary/lib/contracts/registry-api";
import { Dialog } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { fragmentOf } from "../address.ts";
import { FailureNotice } from "../parts/failure-notice.tsx";
import { NoteFields } from "../parts/note-fields.tsx";
import { WaitChoice } from "../parts/written.tsx";
import { restoreRevision } from "../registry/calls.ts";
import { useSession } from "../session.ts";
import { useWrite } from "../write.ts";
import { Comparison } from "./comparison.tsx";

interface RestoreDialogProps {
  service: string;
  revision: number;
  /** The newest revision that the page knows. */
  newest: number;
  onClose: () => void;
  onChanged: () => Promise<void>;
}

/** Shows what restoring a revision would change, and makes exactly these changes or none. */
export function RestoreDialog({ service, revision, newest, onClose, onChanged }: RestoreDialogProps) {
  const session = useSession();
  const [note, setNote] = useState<GivenNote>({});
  const [wait, setWait] = useState(true);
  const { busy, failure, write } = useWrite();
  const restore = () =>
    write(
      (registry) => restoreRevision(registry, service, { revision, newest, wait, note }),
      async (restored) => {
        session.announce(
          `Revision ${revision} of ${service} is current again, as revision ${restored.revision}.`,
        );
        onClose();
        await onChanged();
        location.hash = fragmentOf({ name: "revisions", service, revision: restored.revision });
      },
    );
  const lookAgain = () => {
    onClose();
    void onChanged();
  };
  return (
    <Dialog
      title={`Restore revision ${revision} of ${service}?`}
      busy={busy}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" aria-disabled={busy} onClick={() => !busy && onClose()}>
            Leave it as it is
          </button>
          <button
            type="button"
            class="button button-main"
            aria-disabled={busy}
            onClick={() => !busy && restore()}
          >
            {busy ? "Restoring …" : `Restore as revision ${newest + 1}`}
          </button>
        </>
      }
    >
      <p>Compared with the newest revision ({newest}), the restore makes these changes.</p>
      <Comparison service={service} from={newest} to={revision} />
      {failure !== null && (
        <FailureNotice
          failure={failure}
          title={failure.outcome_unknown ? "The registry may have restored the revision" : undefined}
          onRetry={failure.kind === "stale" || failure.outcome_unknown ? lookAgain : undefined}
          retryLabel="Look at it again"
        />
      )}
      <NoteFields note={note} onChange={setNote} failure={failure} />
      <WaitChoice wait={wait} onChange={setWait} />
    </Dialog>
  );
}
