import { SCOPES } from "@ostiary/lib/domain/routes";
import { DataTable, Empty, hasWords, wordsOf } from "@ostiary/lib/page";
import { useMemo, useState } from "preact/hooks";
import { fragmentOf } from "../address.ts";
import { useSession } from "../page-session.ts";
import { CatalogState } from "../parts/catalog-state.tsx";
import { usePages } from "../parts/pager.tsx";
import { counted, ScopeBadge } from "../parts/shown.tsx";
import { SearchField } from "../routes/route-explorer.tsx";
import { type ServiceRow, serviceRows } from "../routes/rows.ts";

export function ServicesView() {
  const services = useSession().catalog.value.answer?.services;
  const rows = useMemo(() => serviceRows(services ?? {}), [services]);
  const [search, setSearch] = useState("");
  const words = wordsOf(search);
  const found = rows.filter(({ text }) => hasWords(text, words));
  const page = usePages(found, "Pages of services");
  return (
    <CatalogState
      what="the services"
      lead="The URL of each service, and the number of its routes in each scope. Each method of a path is a route."
    >
      <search class="filters" aria-label="Services">
        <SearchField
          label="Search services"
          value={search}
          placeholder="name or URL"
          onInput={(text) => {
            setSearch(text);
            page.turn(1);
          }}
        />
        <a class="button" href={fragmentOf({ name: "deleted" })}>
          Deleted services
        </a>
      </search>
      <p class="found" role="status">
        {page.total === rows.length
          ? counted(rows.length, "service")
          : `${page.total.toLocaleString("en")} of ${counted(rows.length, "service")}`}
      </p>
      {page.total === 0 ? (
        <Empty title="No published service has this name or URL.">
          <p>
            A deleted service keeps its history:{" "}
            <a href={fragmentOf({ name: "revisions", service: search.trim(), revision: null })}>
              revisions of {search.trim()}
            </a>
          </p>
        </Empty>
      ) : (
        <ServiceTable rows={page.rows} />
      )}
      {page.pager}
    </CatalogState>
  );
}

function ServiceTable({ rows }: { rows: readonly ServiceRow[] }) {
  return (
    <DataTable
      label="Services"
      columns={["Service", "URL", "Routes"]}
      rows={rows.map(({ name, url, counts }) => ({
        key: name,
        cells: [
          <a class="name" href={fragmentOf({ name: "service", service: name })}>
            {name}
          </a>,
          <code>{url}</code>,
          <span class="scope-counts">
            {SCOPES.filter((scope) => counts[scope] > 0).map((scope) => (
              <span key={scope}>
                <ScopeBadge scope={scope} /> {counts[scope].toLocaleString("en")}
              </span>
            ))}
          </span>,
        ],
      }))}
    />
  );
}
