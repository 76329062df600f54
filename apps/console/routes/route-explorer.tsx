import { countRoutes, SCOPES, type Scope } from "@ostiary/lib/domain/routes";
import { Button, DataTable, Empty, hasWords, Route, wordsOf } from "@ostiary/lib/page";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { fragmentOf } from "../address.ts";
import { useSession } from "../page-session.ts";
import { CatalogState } from "../parts/catalog-state.tsx";
import { usePages } from "../parts/pager.tsx";
import { counted, Methods, ScopeBadge } from "../parts/shown.tsx";
import { countScopes, type RouteRow, routeRows } from "./rows.ts";

/** Shows routes in pages, with a search over all their fields and a filter by scope. */
export function RouteExplorer({ rows, withService }: { rows: readonly RouteRow[]; withService: boolean }) {
  const [search, setSearch] = useState("");
  const [scope, setScope] = useState<Scope | null>(null);
  const words = useMemo(() => wordsOf(search), [search]);
  const found = useMemo(() => rows.filter(({ text }) => hasWords(text, words)), [rows, words]);
  const shown = useMemo(() => (scope ? found.filter((row) => row.scope === scope) : found), [found, scope]);
  const page = usePages(shown, "Pages of routes");
  const narrow = (text: string, chosen: Scope | null) => {
    setSearch(text);
    setScope(chosen);
    page.turn(1);
  };
  return (
    <section aria-label="Routes">
      <search class="filters" aria-label="Routes">
        <SearchField
          label="Search routes"
          value={search}
          placeholder="path, service, label, method …"
          onInput={(text) => narrow(text, scope)}
        />
        <ScopeFilter scope={scope} found={found} onChoose={(chosen) => narrow(search, chosen)} />
      </search>
      <p class="found" role="status">
        {page.total === rows.length
          ? counted(countRoutes(rows), "route")
          : `${countRoutes(shown).toLocaleString("en")} of ${counted(countRoutes(rows), "route")}`}
        {page.count > 1 &&
          ` in ${counted(page.total, "row")}, rows ${page.first.toLocaleString("en")} to ${page.last.toLocaleString("en")} are shown`}
      </p>
      {page.total === 0 ? (
        <Empty title="No route matches.">
          <p>
            A route matches if its method, path, owner, scope, labels, limit or upstream path contain each
            word of the search.
          </p>
          <Button onClick={() => narrow("", null)}>Show all routes</Button>
        </Empty>
      ) : (
        <RouteTable rows={page.rows} withService={withService} />
      )}
      {page.pager}
    </section>
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
        placeholder={`${placeholder} (Ctrl+K)`}
        autocomplete="off"
        spellcheck={false}
        aria-keyshortcuts="Control+K Meta+K"
        onInput={(event) => onInput(event.currentTarget.value)}
      />
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
    <fieldset class="chips">
      <legend class="sr">Scope</legend>
      {choices.map(({ value, text, count }) => (
        <label key={text} class={scope === value ? "chip chip-on" : "chip"}>
          <input type="radio" name={name} checked={scope === value} onChange={() => onChoose(value)} />
          {text} {count.toLocaleString("en")}
        </label>
      ))}
    </fieldset>
  );
}

export function RoutesView() {
  const services = useSession().catalog.value.answer?.services;
  const rows = useMemo(() => routeRows(services ?? {}), [services]);
  return (
    <CatalogState
      what="the routes"
      lead="Every published route, with its service and the labels that callers need."
    >
      <RouteExplorer rows={rows} withService />
    </CatalogState>
  );
}

interface RouteTableProps {
  rows: readonly RouteRow[];
  /** Whether to show the service; false when all routes belong to one service. */
  withService: boolean;
}

/** Shows one page of routes. On a narrow screen each row is a card. */
function RouteTable({ rows, withService }: RouteTableProps) {
  return (
    <DataTable
      label="Routes"
      columns={["Route", "Scope", ...(withService ? ["Owner"] : []), "Labels", "Limit", "Audit"]}
      kinds={{ Route: "cell-route", Limit: "cell-limit", Audit: "cell-short" }}
      rows={rows.map(({ service, scope, limit, labels, methods, audited, ...route }, index) => ({
        key: index,
        cells: [
          <RoutePath {...{ ...route, methods }} />,
          <ScopeBadge scope={scope} />,
          ...(withService ? [<a href={fragmentOf({ name: "service", service })}>{service}</a>] : []),
          <Labels labels={labels} />,
          limit === "" ? <span class="quiet">default</span> : limit,
          audited.length === 0 ? (
            <span class="quiet">no</span>
          ) : audited.length === methods.length ? (
            "yes"
          ) : (
            audited.join(", ")
          ),
        ],
      }))}
    />
  );
}

type RoutePathProps = Pick<RouteRow, "path" | "methods" | "upstream" | "bounds">;

function RoutePath({ path, methods, upstream, bounds }: RoutePathProps) {
  return (
    <>
      <Methods methods={methods} />{" "}
      <span class="path">
        <Route text={path} />
      </span>
      {upstream !== null && upstream !== path && (
        <span class="upstream">
          <span aria-hidden="true">↳ </span>
          <span class="sr">calls </span>
          <Route text={upstream} />
        </span>
      )}
      {bounds !== "" && <span class="upstream">{bounds}</span>}
    </>
  );
}

function Labels({ labels }: Pick<RouteRow, "labels">) {
  if (labels.length === 0) return <span class="quiet">none required</span>;
  return (
    <span class="labels">
      {labels.map((label) => (
        <span key={label} class="label">
          {label}
        </span>
      ))}
    </span>
  );
}
