import { Field } from "./field.tsx";

interface SelectFieldProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; text: string }[];
  onChange: (value: Value) => void;
  help?: string;
}

/** A labelled choice of one value. */
export function SelectField<Value extends string>({
  label,
  value,
  options,
  onChange,
  help,
}: SelectFieldProps<Value>) {
  return (
    <Field label={label} help={help}>
      {(connection) => (
        <select
          {...connection}
          value={value}
          onChange={({ currentTarget }) => {
            const chosen = options[currentTarget.selectedIndex];
            if (chosen !== undefined) onChange(chosen.value);
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
