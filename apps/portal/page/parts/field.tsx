import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** The attributes that connect a control with its label, its help and its problem. */
interface Connection {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid": boolean;
}

/** The properties of every labeled control. */
export interface FieldProps {
  label: string;
  help?: string;
  /** The problem of the value, or null for a valid value. */
  problem?: string | null;
}

interface Props extends FieldProps {
  /** Whether the control is as wide as its form. */
  wide?: boolean;
  children: (connection: Connection) => ComponentChildren;
}

/** Shows a control with its label above, and its problem and help below. */
export function Field({ label, help, problem = null, wide = false, children }: Props) {
  const id = useId();
  const described = [problem !== null && `${id}-problem`, help !== undefined && `${id}-help`].filter(Boolean);
  return (
    <div class={wide ? "field field-wide" : "field"}>
      <label for={id}>{label}</label>
      {children({
        id,
        "aria-describedby": described.length === 0 ? undefined : described.join(" "),
        "aria-invalid": problem !== null,
      })}
      {problem !== null && (
        <p class="problem small" id={`${id}-problem`}>
          {problem}
        </p>
      )}
      {help !== undefined && (
        <p class="quiet small" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}
