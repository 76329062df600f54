import { countRoutes, SCOPES, type Scope } from "@ostiary/lib/domain/routes";
import { Button, Empty, hasWords, wordsOf } from "@ostiary/lib/page";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Pager } from "../parts/pager.tsx";
import { pageOf } from "../parts/pages.ts";
import { counted } from "../parts/shown.tsx";
import { RouteTable } from "./route-table.tsx";
import { countScopes, type RouteRow } from "./rows.ts";

/** Shows routes in pages, with a search over all their fields and a filter by scope. */
export function RouteExplorer({ rows, withService }: { rows: readonly RouteRow[]; withService: boolean }) {
  const [search, setSearch] = useState("");
  const [scope, setScope] = useState<Scope | null>(null);
  const [number, turn] = useState(1);
  const words = useMemo(() => wordsOf(search), [search]);
  const found = useMemo(() => rows.filter(({ text }) => hasWords(text, words)), [rows, words]);
  const shown = useMemo(() => (scope ? found.filter((row) => row.scope === scope) : found), [found, scope]);
  const page = pageOf(shown, number);
  const narrow = (change: () => void) => {
    change();
    turn(1);
  };
  const reset = () => {
    setSearch("");
    setScope(null);
  };
  return (
    <section aria-label="Routes">
      <search class="filters" aria-label="Routes">
        <SearchField
          label="Search routes"
          value={search}
          placeholder="path, service, label, method …"
          onInput={(text) => narrow(() => setSearch(text))}
        />
        <ScopeFilter scope={scope} found={found} onChoose={(chosen) => narrow(() => setScope(chosen))} />
      </search>
      <p class="found" role="status">
        {page.total === rows.length
          ? counted(countRoutes(rows), "route")
          : `${countRoutes(shown).toLocaleString("en")} of ${counted(countRoutes(rows), "route")}`}
        {page.count > 1 &&
          `, rows ${page.first.toLocaleString("en")} to ${page.last.toLocaleString("en")} of ${page.total.toLocaleString("en")} shown`}
      </p>
      {page.total === 0 ? (
        <NoneFound onReset={() => narrow(reset)} />
      ) : (
        <RouteTable rows={page.rows} words={words} withService={withService} />
      )}
      <Pager page={page} label="Pages of routes" onTurn={turn} />
    </section>
  );
}

function NoneFound({ onReset }: { onReset: () => void }) {
  return (
    <Empty title="No route matches.">
      <p>
        A route matches if its method, path, owner, scope, labels, limit or upstream path contain each word of
        the search.
      </p>
      <Button onClick={onReset}>Show all routes</Button>
    </Empty>
  );
}

interface SearchFieldProps {
  label: string;
  value: string;
  placeholder: string;
  onInput: (text: string) => void;
}

/** Renders a search field that Ctrl+K or ⌘K focuses from anywhere on the page. */
export function SearchField({ label, value, placeholder, onInput }: SearchFieldProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  // A layout effect listens before the browser handles any input. A plain effect would run up to 35 ms later.
  useLayoutEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  return (
    <div class="search">
      <label for={id}>{label}</label>
      <input
        id={id}
        ref={input}
        type="search"
        value={value}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        aria-keyshortcuts="Control+K Meta+K"
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <span class="keys" aria-hidden="true">
        Ctrl K
      </span>
    </div>
  );
}

interface ScopeFilterProps {
  scope: Scope | null;
  found: readonly RouteRow[];
  onChoose: (scope: Scope | null) => void;
}

function ScopeFilter({ scope, found, onChoose }: ScopeFilterProps) {
  const name = useId();
  const counts = countScopes(found);
  const choices = [
    { value: null, text: "all", count: countRoutes(found) },
    ...SCOPES.map((each) => ({ value: each, text: each, count: counts[each] })),
  ];
  return (
    <fieldset class="scopes">
      <legend class="sr">Scope</legend>
      {choices.map(({ value, text, count }) => (
        <label key={text} class="scope-choice">
          <input type="radio" name={name} checked={scope === value} onChange={() => onChoose(value)} />
          <span>
            {text} <span class="count">{count.toLocaleString("en")}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
