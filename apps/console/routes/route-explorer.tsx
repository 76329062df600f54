import { countRoutes, SCOPES, type Scope } from "@ostiary/lib/domain/routes";
import { Button, DataTable, Empty, hasWords, Route, Rows, TextField, wordsOf } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import { useId, useMemo, useState } from "preact/hooks";
import { fragmentOf } from "../console-address.ts";
import { Catalog } from "../parts/catalog.tsx";
import { counted, Methods, ScopeBadge } from "../parts/shown.tsx";
import { countScopes, type RouteRow, routeRows } from "./rows.ts";

/**
 * Shows routes of one service, or of several with their owners, with a search over all their fields and a filter by
 * scope.
 */
export function RouteExplorer({ rows, withService }: { rows: readonly RouteRow[]; withService: boolean }) {
  const [search, setSearch] = useState("");
  const [scope, setScope] = useState<Scope | null>(null);
  const words = useMemo(() => wordsOf(search), [search]);
  const found = useMemo(() => rows.filter(({ text }) => hasWords(text, words)), [rows, words]);
  const shown = useMemo(() => (scope ? found.filter((row) => row.scope === scope) : found), [found, scope]);
  const name = useId();
  const counts = countScopes(found);
  const choices = [
    { value: null, text: "all", count: countRoutes(found) },
    ...SCOPES.map((each) => ({ value: each, text: each, count: counts[each] })),
  ];
  return (
    <section aria-label="Routes">
      <search class="filters" aria-label="Routes">
        <TextField
          label="Search routes"
          value={search}
          placeholder="path, service, label, method …"
          onInput={setSearch}
        />
        <fieldset class="chips">
          <legend class="sr">Scope</legend>
          {choices.map(({ value, text, count }) => (
            <label key={text} class={scope === value ? "chip chip-on" : "chip"}>
              <input type="radio" name={name} checked={scope === value} onChange={() => setScope(value)} />
              {text} {count.toLocaleString("en")}
            </label>
          ))}
        </fieldset>
      </search>
      <p class="found" role="status">
        {shown.length === rows.length
          ? counted(countRoutes(rows), "route")
          : `${countRoutes(shown).toLocaleString("en")} of ${counted(countRoutes(rows), "route")}`}
      </p>
      {shown.length === 0 ? (
        <Empty title="No route matches.">
          <p>
            A route matches if its method, path, owner, scope, labels, limit or upstream path contain each
            word of the search.
          </p>
          <Button
            onClick={() => {
              setSearch("");
              setScope(null);
            }}
          >
            Show all routes
          </Button>
        </Empty>
      ) : (
        <Rows rows={shown}>
          {(first) => (
            <DataTable
              label="Routes"
              columns={["Route", "Scope", ...(withService ? ["Owner"] : []), "Labels", "Limit", "Audit"]}
              kinds={{ Route: "cell-route", Limit: "cell-limit", Audit: "cell-short" }}
              rows={first.map((row, index) => ({ key: index, cells: cellsOf(row, withService) }))}
            />
          )}
        </Rows>
      )}
    </section>
  );
}

export function RoutesView() {
  return (
    <Catalog lead="Every published route, with its service and the labels that callers need.">
      {(services) => <RouteExplorer rows={routeRows(services)} withService />}
    </Catalog>
  );
}

function cellsOf(row: RouteRow, withService: boolean): ComponentChildren[] {
  const { service, scope, path, methods, upstream, bounds, labels, limit, audited } = row;
  return [
    <>
      <Methods methods={methods} />{" "}
      <span class="name">
        <Route text={path} />
      </span>
      {upstream !== null && upstream !== path && (
        <span class="below quiet">
          <span aria-hidden="true">↳ </span>
          <span class="sr">calls </span>
          <Route text={upstream} />
        </span>
      )}
      {bounds !== "" && <span class="below quiet">{bounds}</span>}
    </>,
    <ScopeBadge scope={scope} />,
    ...(withService ? [<a href={fragmentOf({ name: "service", service })}>{service}</a>] : []),
    <span class={labels.length === 0 ? "quiet" : "labels"}>
      {labels.length === 0
        ? "none required"
        : labels.map((label) => (
            <span key={label} class="label">
              {label}
            </span>
          ))}
    </span>,
    limit === "" ? <span class="quiet">default</span> : limit,
    <span class={audited.length === 0 ? "quiet" : undefined}>{auditText(row)}</span>,
  ];
}

function auditText({ audited, methods }: RouteRow): string {
  if (audited.length === 0) return "no";
  return audited.length === methods.length ? "yes" : audited.join(", ");
}
