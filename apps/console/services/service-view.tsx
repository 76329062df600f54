import type { Service } from "@ostiary/lib/contracts/registry-api";
import {
  bodyText,
  limitText,
  listChanges,
  markChanges,
  testText,
  timeoutText,
} from "@ostiary/lib/domain/routes";
import { Button, DataTable, Empty, Facts, Loaded, TextField } from "@ostiary/lib/page";
import { useMemo, useState } from "preact/hooks";
import { stringify } from "yaml";
import { fragmentOf } from "../console-address.ts";
import { useOperator, useRequest, useSession } from "../console-session.ts";
import { WhyNot } from "../operator/out-of-bounds.tsx";
import { mayWrite, outOfBounds } from "../operator/permissions.ts";
import { WriteDialog } from "../parts/write-dialog.tsx";
import { deleteService, readService } from "../registry/calls.ts";
import { Changes, ReviewSummary } from "../review/review.tsx";
import { RouteExplorer } from "../routes/route-explorer.tsx";
import { rowsOf } from "../routes/rows.ts";

export function ServiceView({ name }: { name: string }) {
  const request = useRequest((registry) => readService(registry, name), name);
  const history = fragmentOf({ name: "revisions", service: name, revision: null });
  if (request.failure?.kind === "missing") {
    return (
      <Empty title={`${name} is not published.`}>
        <p>If the service was published before, the registry still has its revisions.</p>
        <a class="button" href={history}>
          Look for revisions
        </a>
      </Empty>
    );
  }
  return (
    <Loaded request={request}>{(service) => <Shown service={service} onChanged={request.reload} />}</Loaded>
  );
}

function Shown({ service, onChanged }: { service: Service; onChanged: () => void }) {
  const { name, revision, url, openapi, timeout_ms, max_body_bytes, rate_limits = {}, tests = [] } = service;
  const session = useSession();
  const [deleting, setDeleting] = useState(false);
  const rows = useMemo(() => rowsOf(name, service), [service]);
  const operator = useOperator();
  const writes = mayWrite(operator);
  const missing = useMemo(
    () => outOfBounds(operator, name, { published: { [name]: service }, restored: null }),
    [operator, service],
  );
  const policies = Object.entries(rate_limits);
  const edit = () => {
    session.document.value = documentOf(service);
  };
  return (
    <>
      <div class="lead">
        <Facts
          facts={[
            ["Revision", revision],
            ["URL", <code>{url}</code>],
            ["OpenAPI description", openapi && <code>{openapi}</code>],
            ["Timeout", timeout_ms && timeoutText(timeout_ms)],
            ["Largest body", max_body_bytes && bodyText(max_body_bytes)],
          ]}
        />
        <p class="actions">
          <a class="button" href={fragmentOf({ name: "apply" })} onClick={edit}>
            {writes ? "Edit as a document" : "Show as a document"}
          </a>
          <a class="button" href={fragmentOf({ name: "revisions", service: name, revision: null })}>
            Revisions
          </a>
          {writes && missing.length === 0 && (
            <Button look="danger" onClick={() => setDeleting(true)}>
              Delete …
            </Button>
          )}
        </p>
      </div>
      {missing.length > 0 && <WhyNot write={`change or delete ${name}`} missing={missing} />}
      {policies.length > 0 && (
        <section>
          <h2>Rate limit policies</h2>
          <DataTable
            label="Rate limit policies"
            columns={["Policy", "Limit", "Bucket"]}
            rows={policies.map(([policy, limit]) => ({
              key: policy,
              cells: [
                <code>{policy}</code>,
                limitText(limit),
                limit.shared ? "shared by all services that use the policy" : "used by this service only",
              ],
            }))}
          />
        </section>
      )}
      {tests.length > 0 && (
        <section>
          <h2>Tests</h2>
          <DataTable
            label="Tests"
            columns={["Test", "Request and expectation"]}
            rows={tests.map((test) => ({
              key: test.name,
              cells: [test.name, <code>{testText(test)}</code>],
            }))}
          />
        </section>
      )}
      <h2>Routes</h2>
      <RouteExplorer rows={rows} withService={false} />
      {deleting && <DeleteDialog service={service} onClose={() => setDeleting(false)} onReload={onChanged} />}
    </>
  );
}

/** Returns a configuration document that contains only this service. */
function documentOf({ name, revision: _, ...config }: Service): string {
  return stringify({ services: { [name]: config } }, { lineWidth: 0 });
}

interface DeleteDialogProps {
  service: Service;
  onClose: () => void;
  /** Reloads the service after a failed deletion, if it may have changed or may be deleted. */
  onReload: () => void;
}

/** Shows what a deletion removes. Deletes the service only if the shown revision is still current. */
function DeleteDialog({ service, onClose, onReload }: DeleteDialogProps) {
  const { name, revision, ...config } = service;
  const session = useSession();
  const [typed, setTyped] = useState("");
  const changes = markChanges(listChanges(config, null));
  return (
    <WriteDialog
      title={`Delete ${name}?`}
      leave="Keep the service"
      confirm="Delete the service"
      isDangerous
      isReady={typed === name}
      mayHave="The registry may have deleted the service"
      write={(registry, options) => deleteService(registry, name, revision, options)}
      onDone={(_, isLeft) => {
        session.announce(`${name} is deleted.`);
        if (isLeft) return;
        onClose();
        location.hash = fragmentOf({ name: "revisions", service: name, revision: null });
      }}
      onReload={() => {
        onClose();
        onReload();
      }}
      onClose={onClose}
      last={
        <TextField
          label={
            <>
              Type <code>{name}</code> to confirm the deletion
            </>
          }
          value={typed}
          onInput={setTyped}
        />
      }
    >
      <p>
        Gateways stop serving the routes of the service. Its history stays, and you can restore a revision.
      </p>
      <ReviewSummary changes={changes} />
      <Changes changes={changes} label="Changes" />
    </WriteDialog>
  );
}
