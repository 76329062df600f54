import type { Service } from "@ostiary/lib/contracts/registry-api";
import { limitText, testText } from "@ostiary/lib/domain/routes";
import { as } from "@ostiary/lib/page";
import { useMemo, useState } from "preact/hooks";
import { stringify } from "yaml";
import { fragmentOf } from "../address.ts";
import { WhyNot } from "../operator/out-of-bounds.tsx";
import { mayWrite, outOfBounds } from "../operator/permissions.ts";
import { FailureNotice } from "../parts/failure-notice.tsx";
import { Empty, Loading } from "../parts/shown.tsx";
import { readService } from "../registry/calls.ts";
import { RouteExplorer } from "../routes/route-explorer.tsx";
import { rowsOf } from "../routes/rows.ts";
import { useAsked, useOperator, useSession } from "../session.ts";
import { DeleteDialog } from "./delete-dialog.tsx";

export function ServiceView({ name }: { name: string }) {
  const { answer, failure, again } = useAsked((registry) => readService(registry, name), name);
  const history = fragmentOf({ name: "revisions", service: name, revision: null });
  if (failure?.kind === "missing") {
    return (
      <Empty title={`${name} is not published.`}>
        <p>If it was published before, the registry has its history, and you can restore a revision.</p>
        <a class="button" href={history}>
          Look for its revisions
        </a>
      </Empty>
    );
  }
  return (
    <>
      {failure !== null && <FailureNotice failure={failure} onRetry={again} />}
      {answer === null && failure === null && <Loading what={name} />}
      {answer !== null && <Shown service={answer} onChanged={again} />}
    </>
  );
}

function Shown({ service, onChanged }: { service: Service; onChanged: () => void }) {
  const { name, revision, url, openapi, rate_limits = {}, tests = [] } = service;
  const session = useSession();
  const [deleting, setDeleting] = useState(false);
  const rows = useMemo(() => rowsOf(name, service), [service]);
  const operator = useOperator();
  const writes = mayWrite(operator);
  const missing = useMemo(
    () => outOfBounds(operator, name, { before: service, after: null }),
    [operator, service],
  );
  const policies = Object.entries(rate_limits);
  const edit = () => {
    session.document.value = documentOf(service);
  };
  return (
    <>
      <div class="lead">
        <dl class="facts">
          <div>
            <dt>Revision</dt>
            <dd>{revision}</dd>
          </div>
          <div>
            <dt>Url</dt>
            <dd>
              <code>{url}</code>
            </dd>
          </div>
          {openapi !== undefined && (
            <div>
              <dt>OpenAPI document</dt>
              <dd>
                <code>{openapi}</code>
              </dd>
            </div>
          )}
        </dl>
        <p class="actions">
          <a class="button" href={fragmentOf({ name: "apply" })} onClick={edit}>
            {writes ? "Edit as a document" : "Show as a document"}
          </a>
          <a class="button" href={fragmentOf({ name: "revisions", service: name, revision: null })}>
            Revisions
          </a>
          {writes && missing.length === 0 && (
            <button type="button" class="button button-danger" onClick={() => setDeleting(true)}>
              Delete …
            </button>
          )}
        </p>
      </div>
      {missing.length > 0 && <WhyNot write={`change or delete ${name}`} missing={missing} />}
      {policies.length > 0 && (
        <section>
          <h2>Rate limit policies</h2>
          <table class="table" {...as("table")}>
            <caption class="sr">Rate limit policies</caption>
            <thead {...as("rowgroup")}>
              <tr {...as("row")}>
                <th {...as("columnheader")} scope="col">
                  Policy
                </th>
                <th {...as("columnheader")} scope="col">
                  Limit
                </th>
                <th {...as("columnheader")} scope="col">
                  Bucket
                </th>
              </tr>
            </thead>
            <tbody {...as("rowgroup")}>
              {policies.map(([policy, limit]) => (
                <tr key={policy} {...as("row")}>
                  <td {...as("cell")}>
                    <code>{policy}</code>
                  </td>
                  <td data-label="Limit" {...as("cell")}>
                    {limitText(limit)}
                  </td>
                  <td data-label="Bucket" {...as("cell")}>
                    {limit.shared ? "shared by all services that name it" : "of this service"}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {tests.length > 0 && <Tests tests={tests} />}
      <h2>Routes</h2>
      <RouteExplorer rows={rows} withService={false} />
      {deleting && <DeleteDialog service={service} onClose={() => setDeleting(false)} onStale={onChanged} />}
    </>
  );
}

function Tests({ tests }: { tests: NonNullable<Service["tests"]> }) {
  return (
    <section>
      <h2>Tests</h2>
      <table class="table" {...as("table")}>
        <caption class="sr">Tests</caption>
        <thead {...as("rowgroup")}>
          <tr {...as("row")}>
            <th {...as("columnheader")} scope="col">
              Test
            </th>
            <th {...as("columnheader")} scope="col">
              Request and expectation
            </th>
          </tr>
        </thead>
        <tbody {...as("rowgroup")}>
          {tests.map((test) => (
            <tr key={test.name} {...as("row")}>
              <td {...as("cell")}>{test.name}</td>
              <td data-label="Request and expectation" {...as("cell")}>
                <code>{testText(test)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Returns a document with this service alone, as apply takes it. */
function documentOf({ name, revision: _, ...config }: Service): string {
  return stringify({ services: { [name]: config } }, { lineWidth: 0 });
}
