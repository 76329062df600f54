import { routeTemplate } from "@ostiary/lib/contracts/audit";
import {
  Button,
  type Failure,
  Form,
  NO_TIME,
  SelectField,
  TextField,
  TimeField,
  useDraft,
} from "@ostiary/lib/page";
import { Value } from "@sinclair/typebox/value";
import { type Problem, type Problems, problemOf, useProblems } from "../parts/use-problems.ts";
import { useTexts } from "../texts/texts.ts";
import { type FilterName, KEY, OUTCOMES, type Selection } from "./selection.ts";

interface FilterFormProps {
  selection: Selection;
  /** The failure of the last request for events, or null. The form shows the field errors of the failure. */
  failure: Failure | null;
  onChoose: (selection: Selection) => void;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];
const TEXTS = ["service", "route", "actor_member_id", "request_id", "created_id"] as const;

export function FilterForm({ selection, failure, onChoose }: FilterFormProps) {
  const t = useTexts().audit;
  const [{ filters, key_prefix }, select] = useDraft(selection);
  const problems = useProblems(failure);
  const choose = () => {
    const chosen = { filters, key_prefix: key_prefix.trim() };
    if (problems.pass(problemsOf(chosen))) onChoose(chosen);
  };
  const field = (name: FilterName) => ({
    label: t.filters[name],
    value: filters[name],
    problem: problems.of(name),
    onInput: (value: string) => select((was) => ({ ...was, filters: { ...was.filters, [name]: value } })),
  });
  const choice = (name: FilterName, values: readonly { value: string; text: string }[]) => {
    const { onInput, ...shown } = field(name);
    return (
      <SelectField {...shown} options={[{ value: "", text: t.filters.any }, ...values]} onChange={onInput} />
    );
  };
  return (
    <Form class="filters" problems={problems} onSubmit={choose}>
      <TimeField {...field("occurred_after")} />
      <TimeField {...field("occurred_before")} />
      {choice(
        "method",
        METHODS.map((value) => ({ value, text: value })),
      )}
      {choice(
        "outcome",
        OUTCOMES.map((value) => ({ value, text: t.outcomes[value] })),
      )}
      {TEXTS.map((name) => (
        <TextField key={name} {...field(name)} />
      ))}
      <TextField
        label={t.filters.key_prefix}
        value={key_prefix}
        problem={problems.of("key_prefix")}
        help={t.filters.keyHelp}
        onInput={(text) => select((was) => ({ ...was, key_prefix: text }))}
      />
      <div class="actions">
        <Button type="submit">{t.filters.show}</Button>
      </div>
    </Form>
  );
}

const TEXT_LENGTH_MAX = 128;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

function problemsOf({ filters, key_prefix }: Selection): Problems {
  const { occurred_after, occurred_before } = filters;
  const texts = (["service", "actor_member_id", "request_id", "created_id"] as const).map((name) => [
    name,
    problemOf(filters[name], { lengthMax: TEXT_LENGTH_MAX, optional: true }),
  ]);
  return {
    ...Object.fromEntries(texts),
    [KEY]: problemOf(key_prefix, { lengthMax: TEXT_LENGTH_MAX, optional: true }),
    route: problemOfRoute(filters.route.trim()),
    occurred_after: problemOfTime(occurred_after),
    occurred_before: problemOfTime(occurred_before) ?? problemOfOrder(occurred_after, occurred_before),
  };
}

function problemOfRoute(route: string): Problem | null {
  const { maxLength: lengthMax = NO_LIMIT } = routeTemplate;
  const problem = problemOf(route, { lengthMax, optional: true });
  if (problem !== null || route === "") return problem;
  return Value.Check(routeTemplate, route) ? null : (texts) => texts.problems.route;
}

/**
 * Returns the problem of a time, or null. The page accepts the years 1 to 9999. An ISO time with another year
 * begins with a sign or with 0000.
 */
function problemOfTime(time: string): Problem | null {
  if (time === NO_TIME) return (texts) => texts.problems.time;
  return /^[+-]|^0000/.test(time) ? (texts) => texts.problems.year : null;
}

function problemOfOrder(after: string, before: string): Problem | null {
  const [from, end] = [Date.parse(after), Date.parse(before)];
  return from >= end ? (texts) => texts.problems.order : null;
}
