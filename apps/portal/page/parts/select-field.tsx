import { useId } from "preact/hooks";

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
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-describedby={help === undefined ? undefined : `${id}-help`}
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
      {help !== undefined && (
        <p class="quiet small" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}
