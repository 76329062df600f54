import type { GivenNote } from "@ostiary/lib/contracts/registry-api";
import { useState } from "preact/hooks";
import { fragmentOf } from "../address.ts";
import { useSession, useWrite } from "../page-session.ts";
import { lookAgainAfter, WriteDialog } from "../parts/write-dialog.tsx";
import { restoreRevision } from "../registry/calls.ts";
import { Comparison } from "./comparison.tsx";

interface RestoreDialogProps {
  service: string;
  revision: number;
  /** The newest revision that the page has loaded. */
  newest: number;
  onClose: () => void;
  onChanged: () => Promise<void>;
}

/**
 * Shows what restoring a revision would change. Restores the revision with exactly these changes, or not at
 * all.
 */
export function RestoreDialog({ service, revision, newest, onClose, onChanged }: RestoreDialogProps) {
  const session = useSession();
  const [note, setNote] = useState<GivenNote>({});
  const writing = useWrite();
  const restore = (wait: boolean) =>
    writing.write(
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
    <WriteDialog
      title={`Restore revision ${revision} of ${service}?`}
      leave="Keep the newest revision"
      confirm={`Restore as revision ${newest + 1}`}
      confirming="Restoring …"
      writing={writing}
      afterFailure={(failure) =>
        lookAgainAfter(failure, "The registry may have restored the revision", lookAgain)
      }
      note={note}
      onNote={setNote}
      onWrite={restore}
      onClose={onClose}
    >
      <p>
        To restore revision {revision}, the registry makes these changes to the newest revision ({newest}).
      </p>
      <Comparison service={service} from={newest} to={revision} />
    </WriteDialog>
  );
}
