import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { FieldProblems } from "./use-problems.ts";

interface FormProps {
  id?: string;
  class?: string;
  /** The accessible name. */
  label?: string;
  busy?: boolean;
  /** The problems of the fields. The first field with a problem gets the focus. */
  problems?: FieldProblems;
  onSubmit: () => void;
  children: ComponentChildren;
}

/** Shows a form without the browser's validation, whose messages may be in another language than the page. */
export function Form({ label, busy = false, problems, onSubmit, children, ...attributes }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problems?.found, problems?.failure]);
  return (
    <form
      {...attributes}
      ref={form}
      aria-label={label}
      aria-busy={busy}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
