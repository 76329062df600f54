import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface DialogProps {
  title: string;
  /** While something is under way that can not be taken back it stays open. */
  busy?: boolean;
  onClose: () => void;
  children: ComponentChildren;
  actions: ComponentChildren;
}

/** A modal dialog, shown for as long as it is rendered: the browser keeps the focus inside, and it goes back afterwards. */
export function Dialog({ title, busy = false, onClose, children, actions }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      dialog?.close();
      // what is taken out of the page while it is open gives nothing back by itself
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
