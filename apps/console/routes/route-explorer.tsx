import { countRoutes, SCOPES, type Scope } from "@ostiary/lib/domain/routes";
import { Button, DataTable, Empty, hasWords, Route, Rows, TextField, wordsOf } from "@ostiary/lib/page";
import { useId, useMemo, useState } from "preact/hooks";
import { fragmentOf } from "../console-address.ts";
import { Catalog } from "../parts/catalog.tsx";
import { counted, Methods, ScopeBadge } from "../parts/shown.tsx";
import { countScopes, type RouteRow, routeRows } from "./rows.ts";

/** Shows routes, with a search over all their fields and a filter by scope. */
export function RouteExplorer({ rows, withService }: { rows: readonly RouteRow[]; withService: boolean }) {
  const [search, setSearch] = useState("");
  const [scope, setScope] = useState<Scope | null>(null);
  const words = useMemo(() => wordsOf(search), [search]);
  const found = useMemo(() => rows.filter(({ text }) => hasWords(text, words)), [rows, words]);
  const shown = useMemo(() => (scope ? found.filter((row) => row.scope === scope) : found), [found, scope]);
  return (
    <section aria-label="Routes">
      <search class="filters" aria-label="Routes">
        <TextField
          label="Search routes"
          value={search}
          placeholder="path, service, label, method …"
          onInput={setSearch}
        />
        <ScopeFilter scope={scope} found={found} onChoose={setScope} />
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
        <Rows rows={shown}>{(first) => <RouteTable rows={first} withService={withService} />}</Rows>
      )}
    </section>
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
  return (
    <Catalog lead="Every published route, with its service and the labels that callers need.">
      {(services) => <RouteExplorer rows={routeRows(services)} withService />}
    </Catalog>
  );
}

interface RouteTableProps {
  rows: readonly RouteRow[];
  /** Whether to show the service; false when all routes belong to one service. */
  withService: boolean;
}

/** Shows routes. On a narrow screen each row is a card. */
function RouteTable({ rows, withService }: RouteTableProps) {
  return (
    <DataTable
      label="Routes"
      columns={["Route", "Scope", ...(withService ? ["Owner"] : []), "Labels", "Limit", "Audit"]}
      kinds={{ Route: "cell-route", Limit: "cell-limit", Audit: "cell-short" }}
      rows={rows.map(({ service, scope, limit, labels, methods, audited, ...route }, index) => ({
        key: index,
        cells: [
          <RoutePath {...route} methods={methods} />,
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
