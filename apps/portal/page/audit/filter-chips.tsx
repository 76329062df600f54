import { Button, type Choice, Select } from "@ostiary/lib/page";
import { useId, useState } from "preact/hooks";
import { nameOf } from "../people/directory.ts";
import { usePeople } from "../people/person-name.tsx";
import { useFormats, useTexts } from "../texts/texts.ts";
import { FilterForm, type FilterFormProps } from "./filter-form.tsx";
import { type Log, PERSON_LOG } from "./logs.ts";
import { actionIn, type Filters, moreFilters, RANGES, withAction, withRange } from "./selection.ts";

/** Shows the filters of the log (AU-36, AU-38): chips for time, person and action, and the rest on demand. */
export function FilterChips({ log, ...form }: FilterFormProps & { log: Log }) {
  const { filters, failure, onChoose } = form;
  const t = useTexts().audit;
  const more = moreFilters(filters);
  const [open, setOpen] = useState(more > 0);
  /** Changes when the person clears the filters, so that the form forgets what it shows. */
  const [round, setRound] = useState(0);
  const isOpen = open || (failure !== null && failure.fields.length > 0);
  return (
    <search aria-label={t.filters.title}>
      <div class="chips">
        <TimeChip filters={filters} onChoose={onChoose} onOther={() => setOpen(true)} />
        {log !== PERSON_LOG && <PersonChip filters={filters} onChoose={onChoose} />}
        <ActionChip log={log} filters={filters} onChoose={onChoose} />
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t.filters.more}
          {more > 0 && ` (${more})`}
        </Button>
        {(isOpen || Object.keys(filters).length > 0) && (
          <Button
            type="reset"
            onClick={() => {
              setRound(round + 1);
              onChoose({});
            }}
          >
            {t.filters.clear}
          </Button>
        )}
      </div>
      {isOpen && <FilterForm key={round} {...form} />}
    </search>
  );
}

/** Shows a choice as a chip. The value "" means no filter. */
function Chip({ label, ...choice }: Choice<string> & { label: string }) {
  const id = useId();
  return (
    <label for={id} class={choice.value === "" ? "chip" : "chip chip-on"}>
      {label}
      <Select {...choice} id={id} />
    </label>
  );
}

interface ChosenProps {
  filters: Filters;
  onChoose: (filters: Filters) => void;
}

const OTHER = "other";
const CHOSEN = "chosen";

function TimeChip({ filters, onChoose, onOther }: ChosenProps & { onOther: () => void }) {
  const t = useTexts().audit.filters;
  const { time, duration } = useFormats();
  const { occurred_after: after = "", occurred_before: before = "" } = filters;
  const isSet = after !== "" || before !== "";
  const chosen = [after === "" ? "" : t.since(time(after)), before === "" ? "" : t.until(time(before))];
  return (
    <Chip
      label={t.time}
      value={isSet ? CHOSEN : ""}
      options={[
        { value: "", text: t.anyTime },
        ...(isSet ? [{ value: CHOSEN, text: chosen.join(" ").trim() }] : []),
        ...RANGES.map((seconds) => ({ value: String(seconds), text: t.last(duration(seconds)) })),
        { value: OTHER, text: t.otherTime },
      ]}
      onInput={(value) => {
        if (value === OTHER) onOther();
        else if (value !== CHOSEN) onChoose(withRange(filters, Number(value), Date.now()));
      }}
    />
  );
}

function PersonChip({ filters, onChoose }: ChosenProps) {
  const { audit, members, locale } = useTexts();
  const { actor_member_id: id = "" } = filters;
  const people = usePeople([id === "" ? null : id]);
  const names = [...people.values()].map((member) => ({ value: member.id, text: nameOf(member, members) }));
  const known = names.some(({ value }) => value === id) || id === "" ? [] : [{ value: id, text: id }];
  return (
    <Chip
      label={audit.filters.actor_member_id}
      value={id}
      options={[
        { value: "", text: audit.filters.anybody },
        ...known,
        ...names.toSorted((one, other) => one.text.localeCompare(other.text, locale)),
      ]}
      onInput={(actor_member_id) => onChoose({ ...filters, actor_member_id })}
    />
  );
}

/** The routes that only a person's own log records. */
const OF_PERSON = /^\S+ \/user(?:\/api-keys.*)?$/;

function ActionChip({ log, filters, onChoose }: ChosenProps & { log: Log }) {
  const t = useTexts().audit;
  const action = actionIn(filters);
  const known = Object.entries(t.actions.known)
    .filter(([name]) => OF_PERSON.test(name) === (log === PERSON_LOG))
    .map(([value, [text]]) => ({ value, text }));
  const other =
    action === "" || known.some(({ value }) => value === action) ? [] : [{ value: action, text: action }];
  return (
    <Chip
      label={t.filters.action}
      value={action}
      options={[{ value: "", text: t.filters.any }, ...other, ...known]}
      onInput={(value) => onChoose(withAction(filters, value))}
    />
  );
}
