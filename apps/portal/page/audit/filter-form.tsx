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
import {
  type FieldProblems,
  type Problem,
  type Problems,
  problemOf,
  useProblems,
} from "../parts/use-problems.ts";
import { useTexts } from "../texts/texts.ts";

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

/** The names of the log's filters (AU-36, AU-38). The query in the page's fragment uses the same names. */
export const FILTERS = [
  "occurred_after",
  "occurred_before",
  "actor_member_id",
  "service",
  "method",
  "route",
  "outcome",
  "request_id",
  "created_id",
] as const;
type FilterName = (typeof FILTERS)[number];

/** The values of the filters. An empty value means no filter. */
type Filters = Readonly<Record<FilterName, string>>;

const OUTCOMES = ["pending", "rejected", "responded", "no_response"] as const;

/**
 * The query parameter in the page's fragment that holds the prefix of an API key. The audit service cannot
 * filter by key, so the page filters the loaded events.
 */
const KEY = "key_prefix";

/** The filters that the audit service applies, and the key by which the page filters the loaded events. */
export interface Selection {
  filters: Filters;
  /** The prefix of the API key. Empty for events of all keys. */
  key_prefix: string;
}

/** Reads a selection from the query in the page's fragment. Ignores unknown parameters. */
export function selectionOf(query: URLSearchParams): Selection {
  const value = (name: string) => query.get(name) ?? "";
  return {
    filters: {
      occurred_after: value("occurred_after"),
      occurred_before: value("occurred_before"),
      actor_member_id: value("actor_member_id"),
      service: value("service"),
      method: value("method"),
      route: value("route"),
      outcome: value("outcome"),
      request_id: value("request_id"),
      created_id: value("created_id"),
    },
    key_prefix: value(KEY),
  };
}

/** Returns the query parameters for the audit service. Omits filters without a value. */
export function queryOf(filters: Filters): Record<string, string> {
  return Object.fromEntries(
    FILTERS.map((name) => [name, filters[name].trim()] as const).filter(([, value]) => value !== ""),
  );
}

/** The maximum length of each text filter except `route`. */
const TEXT_LENGTH_MAX = 128;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** Returns the problem of each value in the filter form by field name, or null for a valid value. */
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

/** Returns the query parameters in the page's fragment for a selection. */
export function placeQueryOf({ filters, key_prefix }: Selection): Record<string, string> {
  return { ...queryOf(filters), ...(key_prefix === "" ? {} : { [KEY]: key_prefix }) };
}
