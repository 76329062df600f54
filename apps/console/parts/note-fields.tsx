import {
  type GivenNote,
  LINK_HEADER,
  LINK_LENGTH_MAX,
  REASON_HEADER,
  REASON_LENGTH_MAX,
} from "@ostiary/lib/contracts/registry-api";
import { type Failure, TextField } from "@ostiary/lib/page";
import { useId } from "preact/hooks";

interface NoteFieldsProps {
  note: GivenNote;
  onChange: (note: GivenNote) => void;
  failure: Failure | null;
}

/** Asks for the reason of a write and for a link. Both are optional. */
export function NoteFields({ note, onChange, failure }: NoteFieldsProps) {
  const help = useId();
  return (
    <div class="field">
      <TextField
        label="Reason"
        spellcheck
        maxLength={REASON_LENGTH_MAX}
        value={note.reason ?? ""}
        aria-describedby={help}
        aria-invalid={isRefused(failure, REASON_HEADER)}
        onInput={(reason) => onChange({ ...note, reason })}
      />
      <TextField
        label="Link"
        inputMode="url"
        maxLength={LINK_LENGTH_MAX}
        placeholder="https://"
        value={note.link ?? ""}
        aria-describedby={help}
        aria-invalid={isRefused(failure, LINK_HEADER)}
        onInput={(link) => onChange({ ...note, link })}
      />
      <p class="quiet small" id={help}>
        The history of the service shows the reason and the link, for example to a ticket. Both are optional.
      </p>
    </div>
  );
}

function isRefused(failure: Failure | null, header: string): boolean {
  return failure?.fields.some(({ path }) => path === header) ?? false;
}

/** Returns whether the registry refused only the reason or the link, which the operator can correct. */
export function isAboutNote({ kind, fields }: Failure): boolean {
  return (
    kind === "invalid" &&
    fields.length > 0 &&
    fields.every(({ path }) => path === REASON_HEADER || path === LINK_HEADER)
  );
}
