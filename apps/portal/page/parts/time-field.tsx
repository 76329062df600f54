import { Field } from "./field.tsx";

interface TimeFieldProps {
  label: string;
  /** An RFC 3339 time, or an empty text. */
  value: string;
  onInput: (value: string) => void;
}

/** A labelled date and time in the zone of the browser. */
export function TimeField({ label, value, onInput }: TimeFieldProps) {
  return (
    <Field label={label}>
      {(connection) => (
        <input
          {...connection}
          type="datetime-local"
          value={inputTime(value)}
          onInput={({ currentTarget }) => onInput(timeOfInput(currentTarget.value))}
        />
      )}
    </Field>
  );
}

const INPUT_LENGTH = "2026-01-31T12:00".length;

/** Returns what an input of a date and a time shows for an RFC 3339 time, or "" for another text. */
function inputTime(text: string): string {
  const time = new Date(text);
  if (text === "" || Number.isNaN(time.getTime())) return "";
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, INPUT_LENGTH);
}

function timeOfInput(value: string): string {
  const time = new Date(value);
  return value === "" || Number.isNaN(time.getTime()) ? "" : time.toISOString();
}
