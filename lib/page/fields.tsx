import type { ComponentChildren, InputHTMLAttributes, SelectHTMLAttributes, TargetedEvent } from "preact";
import {
  type Dispatch,
  type StateUpdater,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "preact/hooks";

interface FormProps {
  id?: string;
  class?: string;
  label?: string;
  busy?: boolean;
  /** The problems of the fields. When they change, the first field with a problem gets the focus. */
  problems?: { readonly found: unknown; readonly failure: unknown };
  onSubmit: () => void;
  children: ComponentChildren;
}

/** Shows a form without the browser's validation, whose messages may be in another language than the page. */
export function Form({ label, busy = false, problems, onSubmit, children, ...attributes }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problems?.found, problems?.failure]);
  return (
    <form
      {...attributes}
      ref={form}
      aria-label={label}
      aria-busy={busy}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

/** The attributes that connect a control with its label, its help and its problem. */
interface Connection {
  id: string;
  "aria-describedby"?: string;
  "aria-invalid": boolean;
}

interface FieldProps {
  id?: string;
  label: ComponentChildren;
  help?: string;
  /** The problem of the value, or null for a valid value. */
  problem?: string | null;
}

interface Props extends FieldProps {
  /** Whether the control is as wide as its form. */
  wide?: boolean;
  children: (connection: Connection) => ComponentChildren;
}

/** Shows a control with its label above, and its problem and help below. */
export function Field({ id: given, label, help, problem = null, wide = false, children }: Props) {
  const own = useId();
  const id = given ?? own;
  const described = [problem !== null && `${id}-problem`, help !== undefined && `${id}-help`].filter(Boolean);
  return (
    <div class={wide ? "field field-wide" : "field"}>
      <label for={id}>{label}</label>
      {children({
        id,
        "aria-describedby": described.length === 0 ? undefined : described.join(" "),
        "aria-invalid": problem !== null,
      })}
      {problem !== null && (
        <p class="problem small" id={`${id}-problem`}>
          {problem}
        </p>
      )}
      {help !== undefined && (
        <p class="quiet small" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}

interface TextProps extends FieldProps {
  value: string;
  onInput: (value: string) => void;
}

type InputProps = Omit<InputHTMLAttributes, "id" | "label" | "value" | "onInput" | "role" | "type">;

export function TextField({ id, label, help, problem, onInput, ...input }: TextProps & InputProps) {
  return (
    <Field id={id} label={label} help={help} problem={problem}>
      {(connection) => (
        <input
          type="text"
          autocomplete="off"
          spellcheck={false}
          {...connection}
          {...input}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** Shows a labeled input for several lines, in a monospaced font. */
export function TextArea({ value, onInput, rows, ...field }: TextProps & { rows: number }) {
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

export interface Choice<Value extends string> {
  value: Value;
  required?: boolean;
  options: readonly { value: Value; text: string }[];
  onInput: (value: Value) => void;
}

type SelectProps<Value extends string> = Choice<Value> &
  Omit<SelectHTMLAttributes, "label" | "value" | "onInput" | "role" | "selected">;

/** Shows a choice without a label of its own. */
export function Select<Value extends string>({ options, onInput, ...attributes }: SelectProps<Value>) {
  return (
    <select
      {...attributes}
      onChange={({ currentTarget }) => {
        const chosen = options[currentTarget.selectedIndex];
        if (chosen !== undefined) onInput(chosen.value);
      }}
    >
      {options.map(({ value, text }) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

export function SelectField<Value extends string>(props: Choice<Value> & FieldProps) {
  const { value, required, options, onInput, ...field } = props;
  return (
    <Field {...field}>
      {(connection) => (
        <Select {...connection} value={value} required={required} options={options} onInput={onInput} />
      )}
    </Field>
  );
}

/** The value of a time field with an incomplete time, such as a day without a month, or a year beyond 9999. */
export const NO_TIME = "?";

/** Shows a labeled input for a date and time in the browser's time zone. The value is an RFC 3339 time. */
export function TimeField({ value, onInput, ...field }: TextProps) {
  const read = ({ currentTarget: { validity, value: text } }: TargetedEvent<HTMLInputElement>) => {
    // an unchanged input keeps its value: a time from the URL can be more precise than the input shows
    if (!validity.valid) onInput(NO_TIME);
    else if (text !== inputTime(value)) onInput(text === "" ? "" : new Date(text).toISOString());
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
  return local.slice(0, -SECONDS_AND_ZONE_LENGTH);
}

/** Returns a value that a person edits, with its setter. A new `given` replaces the edited value. */
export function useDraft<Value>(given: Value): [Value, Dispatch<StateUpdater<Value>>] {
  const [draft, setDraft] = useState(given);
  // A layout effect runs before the browser handles any input. A plain effect runs later, and would discard
  // what a person types as soon as the field appears.
  useLayoutEffect(() => setDraft(given), [JSON.stringify(given)]);
  return [draft, setDraft];
}
