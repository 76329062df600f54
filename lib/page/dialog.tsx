import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";

interface DialogProps {
  title: string;
  /** Whether a write is in flight. During a write, Escape does not close the dialog. */
  busy?: boolean;
  onClose: () => void;
  children: ComponentChildren;
  actions: ComponentChildren;
}

/** Shows a modal dialog, which holds the focus until it closes. The earlier focus is then restored. */
export function Dialog({ title, busy = false, onClose, children, actions }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // a layout effect restores the focus before a MutationObserver can see that the focused element is gone
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      dialog?.close();
      // removing an open dialog from the page does not restore the focus
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby={heading}
      aria-busy={busy}
      onCancel={(event) => {
        event.preventDefault();
        if (!busy) onClose();
      }}
      // A browser that has prevented one Escape closes the dialog at the next one without asking.
      onClose={({ currentTarget }) => {
        if (!currentTarget.isConnected) return;
        currentTarget.showModal();
        if (!busy) onClose();
      }}
    >
      <h2 id={heading}>{title}</h2>
      <div class="dialog-body">{children}</div>
      <div class="actions">{actions}</div>
    </dialog>
  );
}

interface ConfirmDialogProps extends Omit<DialogProps, "actions"> {
  /** The label of the button that changes nothing. */
  cancel: string;
  /** The label of the button that makes the change. */
  action: string;
  look: "main" | "danger" | "danger-main";
  off: boolean;
  /** The id of the form among the children that the button submits. */
  form?: string;
  onConfirm?: () => void;
}

export function ConfirmDialog({ cancel, action, look, off, form, onConfirm, ...dialog }: ConfirmDialogProps) {
  const { busy = false, onClose } = dialog;
  return (
    <Dialog
      {...dialog}
      actions={
        <>
          <Button aria-disabled={busy} onClick={() => !busy && onClose()}>
            {cancel}
          </Button>
          <Button
            type={form === undefined ? "button" : "submit"}
            form={form}
            look={look}
            aria-disabled={off}
            onClick={() => !off && onConfirm?.()}
          >
            {action}
          </Button>
        </>
      }
    />
  );
}
