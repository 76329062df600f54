import { useId } from "preact/hooks";

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
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={value}
        required={required}
        aria-invalid={invalid}
        aria-describedby={help === undefined ? undefined : `${id}-help`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {help !== undefined && (
        <p class="quiet small" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}
