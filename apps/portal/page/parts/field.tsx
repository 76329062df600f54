import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** The attributes that connect a control with its label and its help. */
interface Connection {
  id: string;
  "aria-describedby"?: string;
}

interface FieldProps {
  label: string;
  help?: string;
  /** Whether the control is as wide as its form. */
  wide?: boolean;
  children: (connection: Connection) => ComponentChildren;
}

/** A control with its label above and its help below. */
export function Field({ label, help, wide = false, children }: FieldProps) {
  const id = useId();
  return (
    <div class={wide ? "field field-wide" : "field"}>
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": help === undefined ? undefined : `${id}-help` })}
      {help !== undefined && (
        <p class="quiet small" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}
