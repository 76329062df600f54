import type { RecordedChange } from "@ostiary/lib/contracts/registry-api";
import { Answered, Button, DataTable, Empty, Form, TextField, Time } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { fragmentOf } from "../address.ts";
import { useAsked } from "../page-session.ts";
import { Pager } from "../parts/pager.tsx";
import { PAGE_ROWS } from "../parts/pages.ts";
import { DONE, Note } from "../parts/shown.tsx";
import { type ChangesQuestion, listChanges } from "../registry/calls.ts";

type Filter = Pick<ChangesQuestion, "service" | "operator">;
const EVERYTHING: Filter = { service: "", operator: "" };

export function ChangesView() {
  const [filter, setFilter] = useState(EVERYTHING);
  /** The last change of each page before the shown one. */
  const [before, setBefore] = useState<readonly RecordedChange[]>([]);
  const question = { ...filter, after: before.at(-1) ?? null };
  const asked = useAsked(
    (registry) => listChanges(registry, question, PAGE_ROWS),
    JSON.stringify([filter, before.length]),
  );
  const narrow = (chosen: Filter) => {
    setFilter(chosen);
    setBefore([]);
  };
  const renew = () => (before.length === 0 ? void asked.again() : setBefore([]));
  return (
    <>
      <div class="lead">
        <p class="quiet">Every write of a service, newest first, with the operator and the reason.</p>
        <Button onClick={renew}>Load the newest</Button>
      </div>
      <Filters filter={filter} onChoose={narrow} />
      <Answered asked={asked} loading="Loading the changes …">
        {({ changes, has_more }) => (
          <>
            {changes.length === 0 ? <NoChange filter={filter} /> : <ChangeTable changes={changes} />}
            <Pager
              label="Pages of changes"
              back={[
                { text: "Newer", turn: before.length > 0 ? () => setBefore(before.slice(0, -1)) : null },
              ]}
              on={[
                { text: "Older", turn: has_more ? () => setBefore([...before, ...changes.slice(-1)]) : null },
              ]}
            >
              Page {(before.length + 1).toLocaleString("en")}
            </Pager>
          </>
        )}
      </Answered>
    </>
  );
}

/** Asks for the exact names of a service and of an operator, as the registry filters by them. */
function Filters({ filter, onChoose }: { filter: Filter; onChoose: (filter: Filter) => void }) {
  const [given, setGiven] = useState(filter);
  return (
    <Form
      class="filters"
      label="Filters"
      onSubmit={() => onChoose({ service: given.service.trim(), operator: given.operator.trim() })}
    >
      <TextField
        label="Service"
        placeholder="every service"
        value={given.service}
        onInput={(service) => setGiven({ ...given, service })}
      />
      <TextField
        label="Operator"
        placeholder="every operator"
        value={given.operator}
        onInput={(operator) => setGiven({ ...given, operator })}
      />
      <Button type="submit" look="main">
        Filter
      </Button>
      {(filter.service !== "" || filter.operator !== "") && (
        <Button
          onClick={() => {
            setGiven(EVERYTHING);
            onChoose(EVERYTHING);
          }}
        >
          Show all changes
        </Button>
      )}
    </Form>
  );
}

function NoChange({ filter: { service, operator } }: { filter: Filter }) {
  if (service === "" && operator === "") return <Empty title="Nobody has changed a service yet." />;
  return (
    <Empty title="No change matches.">
      <p>The filters take the exact name of a service and of an operator.</p>
    </Empty>
  );
}

function ChangeTable({ changes }: { changes: readonly RecordedChange[] }) {
  return (
    <DataTable
      label="Changes"
      columns={["Service", "Change", "Operator", "Reason", "Time"]}
      kinds={{ Reason: "cell-reason" }}
      rows={changes.map(({ service, revision, action, operator, reason, link, created_at }) => ({
        key: `${service}:${revision}`,
        cells: [
          <a class="name" href={fragmentOf({ name: "revisions", service, revision })}>
            {service}, revision {revision}
          </a>,
          <span class={`did did-${action}`}>{DONE[action]}</span>,
          operator ?? <span class="quiet">seeds</span>,
          (reason !== null || link !== null) && <Note reason={reason} link={link} />,
          <Time at={created_at} />,
        ],
      }))}
    />
  );
}
