import { DataTable, Empty, PagedRows, Time } from "@ostiary/lib/page";
import { fragmentOf } from "../console-address.ts";
import { useChanges, useOperator } from "../console-session.ts";
import { mayWrite } from "../operator/permissions.ts";
import { counted, Note } from "../parts/shown.tsx";
import { deletionsIn, readOlder } from "../registry/calls.ts";

/** The number of pages of changes that the view reads at a time, so that a long history takes no long wait. */
const PAGES_AT_A_TIME = 10;

/** Shows the services whose newest change is a deletion. Reads the changes from the newest to the oldest. */
export function DeletedView() {
  const pages = useChanges((registry, last) => readOlder(registry, last, PAGES_AT_A_TIME), "");
  const action = mayWrite(useOperator()) ? "Restore …" : "Show";
  const placeOf = (service: string, revision: number | null) =>
    fragmentOf({ name: "revisions", service, revision });
  const { items: changes, has_more } = pages;
  const oldest = changes.at(-1);
  return (
    <>
      <p class="lead">
        A deleted service keeps its revisions. A restore publishes one of them again, after a review.
      </p>
      <PagedRows pages={pages} rows={deletionsIn(changes)}>
        {(deletions) => (
          <>
            <p class="found" role="status">
              {counted(deletions.length, "deleted service")}
              {has_more && ` in the last ${counted(changes.length, "change")}`}
            </p>
            <DataTable
              none={
                <Empty title={has_more ? "No service was deleted lately." : "No service is deleted."}>
                  <a href={fragmentOf({ name: "services" })}>All services</a>
                </Empty>
              }
              label="Deleted services"
              columns={["Service", "Deleted", "Operator", "Reason", "Actions"]}
              kinds={{ Reason: "cell-reason" }}
              rows={deletions.map(({ service, revision, operator, reason, link, created_at }) => ({
                key: service,
                cells: [
                  <a class="name" href={placeOf(service, null)}>
                    {service}
                  </a>,
                  <Time at={created_at} />,
                  operator,
                  (reason !== null || link !== null) && <Note reason={reason} link={link} />,
                  // the revision before a deletion has the last config of the service
                  <a class="button" href={placeOf(service, revision - 1)} aria-label={`${action} ${service}`}>
                    {action}
                  </a>,
                ],
              }))}
            />
            {has_more && oldest !== undefined && (
              <p class="lead">
                These are the deletions since <Time at={oldest.created_at} />.
              </p>
            )}
          </>
        )}
      </PagedRows>
    </>
  );
}
