import type { TargetedEvent } from "preact";
import { Field, type FieldProps } from "./field.tsx";

interface TimeFieldProps extends FieldProps {
  /** An RFC 3339 time, an empty string, or {@link NO_TIME}. */
  value: string;
  onInput: (value: string) => void;
}

/** The value of a field with an incomplete time, such as a day without a month. */
export const NO_TIME = "?";

/** Shows a labeled input for a date and time in the browser's time zone. */
export function TimeField({ value, onInput, ...field }: TimeFieldProps) {
  const read = ({ currentTarget: { validity, value: text } }: TargetedEvent<HTMLInputElement>) => {
    // an unchanged input keeps its value: a time from the URL can be more precise than the input shows
    if (validity.badInput || text !== inputTime(value))
      onInput(validity.badInput ? NO_TIME : timeOfInput(text));
  };
  return (
    <Field {...field}>
      {(connection) => (
        <input
          {...connection}
          type="datetime-local"
          max={LAST}
          value={inputTime(value)}
          onInput={read}
          // the browser fires no input event for an incomplete time
          onKeyUp={read}
          onBlur={read}
        />
      )}
    </Field>
  );
}

/** The latest time that RFC 3339 can express. */
const LAST = "9999-12-31T23:59";
const SECONDS_AND_ZONE_LENGTH = ":00.000Z".length;

/** Converts an RFC 3339 time to the value of a `datetime-local` input. Returns "" for any other text. */
function inputTime(text: string): string {
  const time = new Date(text);
  if (text === "" || Number.isNaN(time.getTime())) return "";
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString();
  // An ISO year beyond 9999 has a sign and six digits. An input allows neither the sign nor leading zeros.
  return local.slice(0, -SECONDS_AND_ZONE_LENGTH).replace(/^\+0?/, "");
}

function timeOfInput(value: string): string {
  if (value === "") return "";
  const time = new Date(value.replace(/^\d{5,6}-/, (year) => `+${year.padStart("012026-".length, "0")}`));
  return Number.isNaN(time.getTime()) ? NO_TIME : time.toISOString();
}
