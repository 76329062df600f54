import { useId } from "preact/hooks";

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
  const id = useId();
  return (
    <div class="field field-wide">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class="mono"
        autocomplete="off"
        spellcheck={false}
        rows={rows}
        value={value}
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
