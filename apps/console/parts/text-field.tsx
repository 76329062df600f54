import type { ComponentChildren, InputHTMLAttributes } from "preact";
import { useId } from "preact/hooks";

interface TextFieldProps extends Omit<InputHTMLAttributes, "label" | "onChange" | "role" | "type"> {
  label: ComponentChildren;
  value: string;
  onChange: (value: string) => void;
}

/** Shows a field for a short text with its label. The browser neither completes nor checks the text. */
export function TextField({ label, onChange, ...input }: TextFieldProps) {
  const id = useId();
  return (
    <>
      <label for={input.id ?? id}>{label}</label>
      <input
        id={id}
        type="text"
        autocomplete="off"
        spellcheck={false}
        {...input}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </>
  );
}
