import { Button, CopyButton, Dialog } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";

/** Shows a text that the person must copy now, such as a new key, with a button that copies the text. */
export function Secret({ value, label, copy }: { value: string; label: string; copy: string }) {
  return (
    <figure class="secret" aria-label={label}>
      <figcaption>{label}</figcaption>
      <code>{value}</code> <CopyButton text={value} label={copy} />
    </figure>
  );
}

interface SecretDialogProps {
  title: string;
  help: string;
  /** The label of the button that closes the dialog. */
  close: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** Shows new secrets. The page forgets the secrets when the dialog closes. */
export function SecretDialog({ title, help, close, onClose, children }: SecretDialogProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <Button look="main" onClick={onClose}>
          {close}
        </Button>
      }
    >
      <p>{help}</p>
      {children}
    </Dialog>
  );
}
