import { Button, DataTable, Empty, Form, PagedRows, TextField, Time } from "@ostiary/lib/page";
import { useState } from "preact/hooks";
import { fragmentOf } from "../console-address.ts";
import { useChanges } from "../console-session.ts";
import { DONE, Note } from "../parts/shown.tsx";
import { type ChangeFilter, EVERYTHING, listChanges } from "../registry/calls.ts";

export function ChangesView() {
  const [filter, setFilter] = useState(EVERYTHING);
  const pages = useChanges((registry, last) => listChanges(registry, filter, last), JSON.stringify(filter));
  return (
    <>
      <div class="lead">
        <p class="quiet">Every write of a service, newest first, with the operator and the reason.</p>
        <Button onClick={pages.reload}>Load the newest</Button>
      </div>
      <Filters filter={filter} onChoose={setFilter} />
      <PagedRows pages={pages}>
        {(changes) => (
          <DataTable
            none={<NoChange filter={filter} />}
            label="Changes"
            columns={["Service", "Change", "Operator", "Reason", "Time"]}
            kinds={{ Reason: "cell-reason" }}
            rows={changes.map(({ service, revision, action, operator, reason, link, created_at }) => ({
              key: `${service}:${revision}`,
              cells: [
                <a class="name" href={fragmentOf({ name: "revisions", service, revision })}>
                  {service}, revision {revision}
                </a>,
                <span class={`quiet did-${action}`}>{DONE[action]}</span>,
                operator ?? <span class="quiet">seeds</span>,
                (reason !== null || link !== null) && <Note reason={reason} link={link} />,
                <Time at={created_at} />,
              ],
            }))}
          />
        )}
      </PagedRows>
    </>
  );
}

/** Asks for the exact names of a service and of an operator, as the registry filters by them. */
function Filters({ filter, onChoose }: { filter: ChangeFilter; onChoose: (filter: ChangeFilter) => void }) {
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

function NoChange({ filter: { service, operator } }: { filter: ChangeFilter }) {
  if (service === "" && operator === "") return <Empty title="Nobody has changed a service yet." />;
  return (
    <Empty title="No change matches.">
      <p>The filters take the exact name of a service and of an operator.</p>
    </Empty>
  );
}
