import {
  type GivenNote,
  LINK_HEADER,
  LINK_LENGTH_MAX,
  REASON_HEADER,
  REASON_LENGTH_MAX,
} from "@ostiary/lib/contracts/registry-api";
import { useId } from "preact/hooks";
import type { Failure } from "../registry/failure.ts";

interface NoteFieldsProps {
  note: GivenNote;
  onChange: (note: GivenNote) => void;
  failure: Failure | null;
}

/** Asks why a write is made. Both fields can stay empty; the history shows them. */
export function NoteFields({ note, onChange, failure }: NoteFieldsProps) {
  const [reason, link] = [useId(), useId()];
  return (
    <div class="note">
      <label for={reason}>Reason</label>
      <input
        id={reason}
        type="text"
        autocomplete="off"
        maxLength={REASON_LENGTH_MAX}
        value={note.reason ?? ""}
        aria-describedby={`${reason}-help`}
        aria-invalid={isRefused(failure, REASON_HEADER)}
        onInput={(event) => onChange({ ...note, reason: event.currentTarget.value })}
      />
      <label for={link}>Link</label>
      <input
        id={link}
        type="text"
        inputMode="url"
        autocomplete="off"
        spellcheck={false}
        maxLength={LINK_LENGTH_MAX}
        placeholder="https://"
        value={note.link ?? ""}
        aria-describedby={`${reason}-help`}
        aria-invalid={isRefused(failure, LINK_HEADER)}
        onInput={(event) => onChange({ ...note, link: event.currentTarget.value })}
      />
      <p class="quiet small" id={`${reason}-help`}>
        The history shows why you made the change, with a link to a ticket. Both can stay empty.
      </p>
    </div>
  );
}

function isRefused(failure: Failure | null, header: string): boolean {
  return failure?.fields.some(({ path }) => path === header) ?? false;
}

/** Returns whether the registry refused only the reason or the link, so that they can be corrected. */
export function isAboutNote({ kind, fields }: Failure): boolean {
  return (
    kind === "invalid" &&
    fields.length > 0 &&
    fields.every(({ path }) => path === REASON_HEADER || path === LINK_HEADER)
  );
}
