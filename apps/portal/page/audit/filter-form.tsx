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
import type { FilterName, Filters } from "./selection.ts";

export interface FilterFormProps {
  filters: Filters;
  /** The failure of the last request for events, or null. The form shows the field errors of the failure. */
  failure: Failure | null;
  onChoose: (filters: Filters) => void;
}

const METHODS = { GET: "GET", POST: "POST", PUT: "PUT", PATCH: "PATCH", DELETE: "DELETE", HEAD: "HEAD" };
const TEXTS = ["service", "route", "actor_member_id", "request_id", "created_id", "key_prefix"] as const;

export function FilterForm({ filters: given, failure, onChoose }: FilterFormProps) {
  const t = useTexts().audit;
  const [filters, change] = useDraft(given);
  const problems = useProblems(failure);
  const field = (name: FilterName) => ({
    label: t.filters[name],
    ...problems.field(name, filters[name] ?? "", (value) => change((was) => ({ ...was, [name]: value }))),
  });
  const choice = (name: FilterName, texts: Readonly<Record<string, string>>) => (
    <SelectField
      {...field(name)}
      options={Object.entries({ "": t.filters.any, ...texts }).map(([value, text]) => ({ value, text }))}
    />
  );
  return (
    <Form
      class="filters"
      problems={problems}
      onSubmit={() => problems.pass(problemsOf(filters)) && onChoose(filters)}
    >
      <TimeField {...field("occurred_after")} />
      <TimeField {...field("occurred_before")} />
      {choice("method", METHODS)}
      {choice("outcome", t.outcomes)}
      {TEXTS.map((name) => (
        <TextField key={name} {...field(name)} help={name === "key_prefix" ? t.filters.keyHelp : undefined} />
      ))}
      <div class="actions">
        <Button type="submit">{t.filters.show}</Button>
      </div>
    </Form>
  );
}

const TEXT_LENGTH_MAX = 128;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

function problemsOf(filters: Filters): Problems {
  const { route = "", occurred_after = "", occurred_before = "" } = filters;
  const texts = TEXTS.map((name) => [
    name,
    problemOf(filters[name] ?? "", { lengthMax: TEXT_LENGTH_MAX, optional: true }),
  ]);
  return {
    ...Object.fromEntries(texts),
    route: problemOfRoute(route.trim()),
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

function problemOfTime(time: string): Problem | null {
  return time === NO_TIME ? (texts) => texts.problems.time : null;
}

function problemOfOrder(after: string, before: string): Problem | null {
  const [from, end] = [Date.parse(after), Date.parse(before)];
  return from >= end ? (texts) => texts.problems.order : null;
}
