import type { GivenNote, Service } from "@ostiary/lib/contracts/registry-api";
import { listChanges, markChanges, type StoredServiceConfig } from "@ostiary/lib/domain/routes";
import { Dialog } from "@ostiary/lib/page";
import { useId, useState } from "preact/hooks";
import { fragmentOf } from "../address.ts";
import { FailureNotice } from "../parts/failure-notice.tsx";
import { NoteFields } from "../parts/note-fields.tsx";
import { WaitChoice } from "../parts/written.tsx";
import { deleteService } from "../registry/calls.ts";
import { Changes, ReviewSummary } from "../review/review.tsx";
import { useSession } from "../session.ts";
import { useWrite } from "../write.ts";

interface DeleteDialogProps {
  service: Service;
  onClose: () => void;
  /** Reports that the service has changed since the page loaded it. */
  onStale: () => void;
}

/** Shows what deleting the service removes, and deletes only the shown revision. */
export function DeleteDialog({ service, onClose, onStale }: DeleteDialogProps) {
  const { name, revision } = service;
  const session = useSession();
  const [typed, setTyped] = useState("");
  const [note, setNote] = useState<GivenNote>({});
  const [wait, setWait] = useState(true);
  const field = useId();
  const changes = markChanges(listChanges(configOf(service), null), service.rate_limits);
  const { busy, failure, write } = useWrite();

  const remove = () =>
    write(
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
    <Dialog
      title={`Delete ${name}?`}
      busy={busy}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" aria-disabled={busy} onClick={() => !busy && onClose()}>
            Keep it
          </button>
          <button
            type="button"
            class="button button-danger-main"
            aria-disabled={busy || typed !== name}
            onClick={() => !busy && typed === name && remove()}
          >
            {busy ? "Deleting …" : `Delete revision ${revision}`}
          </button>
        </>
      }
    >
      <p>Gateways stop serving its routes. Its history stays, and a revision of it can be restored.</p>
      <ReviewSummary changes={changes} />
      <Changes changes={changes} label="Changes" />
      {failure !== null && (
        <FailureNotice
          failure={failure}
          title={failure.outcome_unknown ? "The registry may have deleted the service" : undefined}
          onRetry={failure.kind === "stale" || failure.outcome_unknown ? lookAgain : undefined}
          retryLabel="Look at it again"
        />
      )}
      <NoteFields note={note} onChange={setNote} failure={failure} />
      <WaitChoice wait={wait} onChange={setWait} goal="no gateway serves it any more" />
      <label for={field}>
        Type <code>{name}</code> to delete it
      </label>
      <input
        id={field}
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </Dialog>
  );
}

function configOf({ name: _name, revision: _revision, ...config }: Service): StoredServiceConfig {
  return config;
}
