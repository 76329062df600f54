import { Button, type Failure, Form, SelectField, TextField, TimeField, useDraft } from "@ostiary/lib/page";
import { type FieldProblems, useProblems } from "../parts/use-problems.ts";
import { useTexts } from "../texts/texts.ts";
import {
  type FilterName,
  type Filters,
  OUTCOMES,
  problemsOf,
  type Selection,
  selectionOf,
} from "./filters.ts";

interface FilterFormProps {
  selection: Selection;
  /** The failure of the last request for events, or null. The form shows the field errors of the failure. */
  failure: Failure | null;
  onChoose: (selection: Selection) => void;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];
const NOTHING_SELECTED = selectionOf(new URLSearchParams());
/** The filters that are plain text fields. */
const TEXTS = ["service", "route", "actor_member_id", "request_id", "created_id"] as const;

/** Shows the filters of the log (AU-36, AU-38). They take effect when the form is submitted. */
export function FilterForm({ selection, failure, onChoose }: FilterFormProps) {
  const t = useTexts().audit;
  const [{ filters, key_prefix }, select] = useDraft(selection);
  const problems = useProblems(failure);
  const choose = () => {
    const chosen = { filters, key_prefix: key_prefix.trim() };
    if (problems.pass(problemsOf(chosen))) onChoose(chosen);
  };
  const clear = () => {
    problems.pass({});
    select(NOTHING_SELECTED);
    onChoose(NOTHING_SELECTED);
  };
  const set = (name: FilterName, value: string) =>
    select((was) => ({ ...was, filters: { ...was.filters, [name]: value } }));
  return (
    <search aria-label={t.filters.title}>
      <Form class="filters" problems={problems} onSubmit={choose}>
        <Times filters={filters} problems={problems} onChoose={set} />
        <Choices filters={filters} problems={problems} onChoose={set} />
        {TEXTS.map((name) => (
          <TextField
            key={name}
            label={t.filters[name]}
            value={filters[name]}
            problem={problems.of(name)}
            onInput={(value) => set(name, value)}
          />
        ))}
        <TextField
          label={t.filters.key_prefix}
          value={key_prefix}
          problem={problems.of("key_prefix")}
          help={t.filters.keyHelp}
          onInput={(text) => select((was) => ({ ...was, key_prefix: text }))}
        />
        <Actions onClear={clear} />
      </Form>
    </search>
  );
}

interface FilterGroupProps {
  filters: Filters;
  problems: FieldProblems;
  onChoose: (name: FilterName, value: string) => void;
}

/** Shows the filters by time. */
function Times({ filters, problems, onChoose }: FilterGroupProps) {
  const t = useTexts().audit;
  return (
    <>
      {(["occurred_after", "occurred_before"] as const).map((name) => (
        <TimeField
          key={name}
          label={t.filters[name]}
          value={filters[name]}
          problem={problems.of(name)}
          onInput={(value) => onChoose(name, value)}
        />
      ))}
    </>
  );
}

/** Shows the filters with a fixed list of values: the method and the outcome. */
function Choices({ filters, problems, onChoose }: FilterGroupProps) {
  const t = useTexts().audit;
  const any = { value: "", text: t.filters.any };
  return (
    <>
      <SelectField
        label={t.filters.method}
        value={filters.method}
        problem={problems.of("method")}
        options={[any, ...METHODS.map((method) => ({ value: method, text: method }))]}
        onChange={(value) => onChoose("method", value)}
      />
      <SelectField
        label={t.filters.outcome}
        value={filters.outcome}
        problem={problems.of("outcome")}
        options={[any, ...OUTCOMES.map((outcome) => ({ value: outcome, text: t.outcomes[outcome] }))]}
        onChange={(value) => onChoose("outcome", value)}
      />
    </>
  );
}

/** Shows the buttons that apply and clear the filters. */
function Actions({ onClear }: { onClear: () => void }) {
  const t = useTexts().audit;
  return (
    <div class="actions">
      <Button type="submit" look="main">
        {t.filters.show}
      </Button>
      <Button type="reset" onClick={onClear}>
        {t.filters.clear}
      </Button>
    </div>
  );
}
