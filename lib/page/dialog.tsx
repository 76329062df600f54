import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

interface DialogProps {
  title: string;
  /** Whether a write is in flight; the dialog stays open until the write ends. */
  busy?: boolean;
  onClose: () => void;
  children: ComponentChildren;
  actions: ComponentChildren;
}

/** Shows a modal dialog. The browser keeps the focus in the dialog; closing the dialog restores the earlier focus. */
export function Dialog({ title, busy = false, onClose, children, actions }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // a layout effect restores the focus before any observer sees that the focused element is gone
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
    >
      <h2 id={heading}>{title}</h2>
      <div class="dialog-body">{children}</div>
      <div class="actions">{actions}</div>
    </dialog>
  );
}
