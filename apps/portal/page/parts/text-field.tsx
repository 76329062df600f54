import { Field, type FieldProps } from "./field.tsx";

interface TextFieldProps extends FieldProps {
  value: string;
  onInput: (value: string) => void;
  required?: boolean;
}

/** Shows a labeled input for one line of text. */
export function TextField({ value, onInput, required = false, ...field }: TextFieldProps) {
  return (
    <Field {...field}>
      {(connection) => (
        <input
          {...connection}
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={value}
          required={required}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
