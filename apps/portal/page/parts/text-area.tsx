import { Field, type FieldProps } from "./field.tsx";

interface TextAreaProps extends FieldProps {
  value: string;
  onInput: (value: string) => void;
  rows: number;
}

/** Shows a labeled input for several lines, in a monospaced font. */
export function TextArea({ value, onInput, rows, ...field }: TextAreaProps) {
  return (
    <Field {...field} wide>
      {(connection) => (
        <textarea
          {...connection}
          class="mono"
          autocomplete="off"
          spellcheck={false}
          rows={rows}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
