import type { Gateway, Gateways, Projections } from "@ostiary/lib/contracts/registry-api";
import { Empty, Facts, Loaded, Time, usePageTexts } from "@ostiary/lib/page";
import { useEffect } from "preact/hooks";
import { fragmentOf } from "../console-address.ts";
import { useRequest } from "../console-session.ts";
import { counted, MessageText } from "../parts/shown.tsx";
import { listGateways, listProjections } from "../registry/calls.ts";

const REFRESH_MS = 5_000;

export function GatewaysView() {
  const projections = useRequest(listProjections, "projections");
  const gateways = useRequest(listGateways, "gateways");
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) return;
      void projections.reload();
      void gateways.reload();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      <p class="quiet lead">
        The registry projects committed services to the route store, and each gateway loads the services from
        the store. This page updates every 5 s.
      </p>
      <section aria-labelledby="projections">
        <h2 id="projections">Outstanding projections</h2>
        <Loaded request={projections}>{(value) => <Outstanding {...value} />}</Loaded>
      </section>
      <section aria-labelledby="gateways">
        <h2 id="gateways">Running gateways</h2>
        <Loaded request={gateways}>{(value) => <Running {...value} />}</Loaded>
      </section>
    </>
  );
}

function Outstanding({ outstanding }: Projections) {
  const { formats } = usePageTexts();
  return (
    <div role="status">
      {outstanding.length === 0 ? (
        <p class="state state-good">None: the route store has the newest revision of every service.</p>
      ) : (
        <>
          <p class="state state-bad">
            The newest revision of {counted(outstanding.length, "service")} may be missing from the route
            store.
          </p>
          <ul class="problems">
            {outstanding.slice(0, 100).map(({ service, age_seconds }) => (
              <li key={service}>
                <a href={fragmentOf({ name: "revisions", service, revision: null })}>{service}</a>, for{" "}
                {formats.duration(age_seconds)}
              </li>
            ))}
          </ul>
          {outstanding.length > 100 && <p>And {(outstanding.length - 100).toLocaleString("en")} more.</p>}
        </>
      )}
    </div>
  );
}

function Running({ gateways, has_more }: Gateways) {
  if (gateways.length === 0) {
    return (
      <Empty title="No gateway is running.">
        <p>This page shows a new gateway within a few seconds.</p>
      </Empty>
    );
  }
  return (
    <>
      <ul class="cards">
        {gateways.map((gateway) => (
          <GatewayCard key={gateway.instance} gateway={gateway} />
        ))}
      </ul>
      {has_more && (
        <p>
          More gateways are running than this page shows. <code>bun cli gateways</code> lists all gateways.
        </p>
      )}
    </>
  );
}

function GatewayCard({ gateway }: { gateway: Gateway }) {
  const { instance, current, services, routes, started_at, loaded_at, store_revision, skipped } = gateway;
  return (
    <li class="panel">
      <h3>
        <code>{instance}</code>
      </h3>
      <p class={`state ${current ? "state-good" : "state-bad"}`}>
        {current ? "Serves all published routes" : "Does not serve all published routes"}
      </p>
      <Facts
        facts={[
          ["Loaded", `${counted(services, "service")}, ${counted(routes, "route")}`],
          ["Loaded at", <Time at={loaded_at} />],
          ["Store revision", store_revision],
          ["Started at", <Time at={started_at} />],
        ]}
      />
      {skipped.length > 0 && (
        <>
          <h4>Services that this gateway cannot read</h4>
          <ul class="problems">
            {skipped.map(({ service, reason }) => (
              <li key={service}>
                <a href={fragmentOf({ name: "service", service })}>{service}</a> <MessageText text={reason} />
              </li>
            ))}
          </ul>
        </>
      )}
    </li>
  );
}
