import type { GivenNote, Service } from "@ostiary/lib/contracts/registry-api";
import { listChanges, markChanges } from "@ostiary/lib/domain/routes";
import { TextField } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { fragmentOf } from "../address.ts";
import { useSession, useWrite } from "../page-session.ts";
import { lookAgainAfter, WriteDialog } from "../parts/write-dialog.tsx";
import { deleteService } from "../registry/calls.ts";
import { Changes, ReviewSummary } from "../review/review.tsx";

interface DeleteDialogProps {
  service: Service;
  onClose: () => void;
  /**
   * Reloads the service after a failed deletion, if the service has changed, or if the deletion may have
   * taken effect.
   */
  onStale: () => void;
}

/** Shows what a deletion removes. Deletes the service only if the shown revision is still current. */
export function DeleteDialog({ service, onClose, onStale }: DeleteDialogProps) {
  const { name, revision, ...config } = service;
  const session = useSession();
  const [typed, setTyped] = useState("");
  const [note, setNote] = useState<GivenNote>({});
  const changes = markChanges(listChanges(config, null), service.rate_limits);
  const writing = useWrite();

  const remove = (wait: boolean) =>
    writing.write(
      (registry) => deleteService(registry, name, revision, { wait, note }),
      () => {
        session.announce(`${name} is deleted.`);
        onClose();
        location.hash = fragmentOf({ name: "revisions", service: name, revision: null });
      },
    );
  const lookAgain = () => {
    onClose();
    onStale();
  };

  return (
    <WriteDialog
      title={`Delete ${name}?`}
      leave="Keep the service"
      confirm="Delete the service"
      confirming="Deleting …"
      isDangerous
      isReady={typed === name}
      writing={writing}
      afterFailure={(failure) =>
        lookAgainAfter(failure, "The registry may have deleted the service", lookAgain)
      }
      note={note}
      onNote={setNote}
      goal="no gateway serves the service any more"
      onWrite={remove}
      onClose={onClose}
      last={
        <TextField
          label={
            <>
              Type <code>{name}</code> to confirm the deletion
            </>
          }
          value={typed}
          onInput={setTyped}
        />
      }
    >
      <p>
        Gateways stop serving the routes of the service. Its history stays, and you can restore a revision.
      </p>
      <ReviewSummary changes={changes} />
      <Changes changes={changes} label="Changes" />
    </WriteDialog>
  );
}
