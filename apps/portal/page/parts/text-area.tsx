import { Field } from "./field.tsx";

interface TextAreaProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  help?: string;
  rows: number;
  /** Whether the value was refused. */
  invalid?: boolean;
}

/** A labelled text of several lines, in letters of equal width. */
export function TextArea({ label, value, onInput, help, rows, invalid = false }: TextAreaProps) {
  return (
    <Field label={label} help={help} wide>
      {(connection) => (
        <textarea
          {...connection}
          class="mono"
          autocomplete="off"
          spellcheck={false}
          rows={rows}
          value={value}
          aria-invalid={invalid}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
