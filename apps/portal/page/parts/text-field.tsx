import { Field } from "./field.tsx";

interface TextFieldProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  help?: string;
  /** Whether the value was refused. */
  invalid?: boolean;
  required?: boolean;
}

/** A labelled line of text. The service checks it; the page says what the service found. */
export function TextField({
  label,
  value,
  onInput,
  help,
  invalid = false,
  required = false,
}: TextFieldProps) {
  return (
    <Field label={label} help={help}>
      {(connection) => (
        <input
          {...connection}
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={value}
          required={required}
          aria-invalid={invalid}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
