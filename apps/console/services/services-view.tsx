import { SCOPES } from "@ostiary/lib/domain/routes";
import { DataTable, SearchedList, wholeList } from "@ostiary/lib/page";
import { fragmentOf } from "../console-address.ts";
import { Catalog } from "../parts/catalog.tsx";
import { ScopeBadge } from "../parts/shown.tsx";
import { serviceRows } from "../routes/rows.ts";

const TEXTS = {
  title: "Services",
  search: "Search services by name or URL",
  none: "",
  noneFound: "No published service has this name or URL.",
};

export function ServicesView() {
  return (
    <Catalog lead="The URL of each service, and the number of its routes in each scope. Each method of a path is a route.">
      {(services) => (
        <>
          <SearchedList
            pages={wholeList(serviceRows(services))}
            texts={TEXTS}
            always
            textOf={({ name, url }) => `${name}\n${url}`}
          >
            {(shown) => (
              <DataTable
                label="Services"
                columns={["Service", "URL", "Routes"]}
                rows={shown.map(({ name, url, counts }) => ({
                  key: name,
                  cells: [
                    <a class="name" href={fragmentOf({ name: "service", service: name })}>
                      {name}
                    </a>,
                    <code>{url}</code>,
                    <span class="spread">
                      {SCOPES.filter((scope) => counts[scope] > 0).map((scope) => (
                        <span key={scope}>
                          <ScopeBadge scope={scope} /> {counts[scope].toLocaleString("en")}
                        </span>
                      ))}
                    </span>,
                  ],
                }))}
              />
            )}
          </SearchedList>
          <p class="lead">
            <a class="button" href={fragmentOf({ name: "deleted" })}>
              Deleted services
            </a>
          </p>
        </>
      )}
    </Catalog>
  );
}
