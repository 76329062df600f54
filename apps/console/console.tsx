import { Empty, useHeading } from "@ostiary/lib/page";
import { useEffect } from "preact/hooks";
import { fragmentOf, titleOf, type View, viewAt } from "./address.ts";
import { ApplyView } from "./apply/apply-view.tsx";
import { GatewaysView } from "./gateways/gateways-view.tsx";
import { LookupView } from "./lookup/lookup-view.tsx";
import { Account } from "./operator/account.tsx";
import { OperatorView } from "./operator/operator-view.tsx";
import { mayWrite } from "./operator/permissions.ts";
import { type Session, SessionContext, useOperator, useSession } from "./page-session.ts";
import { RevisionsView } from "./revisions/revisions-view.tsx";
import { RoutesView } from "./routes/routes-view.tsx";
import { ServiceView } from "./services/service-view.tsx";
import { ServicesView } from "./services/services-view.tsx";
import { Brand, SignIn } from "./sign-in/sign-in.tsx";

/** Renders the whole page. */
export function Console({ session }: { session: Session }) {
  useEffect(() => {
    const follow = () => {
      session.view.value = viewAt(location.hash);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return (
    <SessionContext.Provider value={session}>
      {session.registry.value === null ? <SignIn /> : <Shell />}
      <div class="sr" role="status" aria-label="Status messages">
        {session.announcement.value}
      </div>
    </SessionContext.Provider>
  );
}

const PLACES = [
  { name: "routes", label: "Routes" },
  { name: "services", label: "Services" },
  { name: "lookup", label: "Look up" },
  { name: "apply", label: "Apply" },
  { name: "gateways", label: "Gateways" },
] as const;

/** Returns the heading of a view. A reader can review a document but not apply it. */
function headingOf(view: View | null, writes: boolean): string {
  if (view === null) return "There is no such page";
  return view.name === "apply" && !writes ? "Review a document" : titleOf(view);
}

function Shell() {
  const session = useSession();
  const view = session.view.value;
  const place = view?.name === "service" || view?.name === "revisions" ? "services" : view?.name;
  const writes = mayWrite(useOperator());
  const heading = headingOf(view, writes);
  useHeading(heading, "Ostiary console");
  return (
    <div class="shell">
      <button type="button" class="button skip" onClick={() => document.querySelector("main")?.focus()}>
        Skip to the content
      </button>
      <header class="side">
        <Brand />
        <nav aria-label="Console">
          <ul class="places">
            {PLACES.map((each) => (
              <li key={each.name}>
                <a href={fragmentOf(each)} aria-current={each.name === place ? "page" : undefined}>
                  {each.name === "apply" && !writes ? "Review" : each.label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <Account />
      </header>
      <main id="main" tabIndex={-1}>
        <h1 tabIndex={-1}>{heading}</h1>
        <Content
          key={view === null ? "" : fragmentOf(view).replace(/\/revisions\/.*/, "/revisions")}
          view={view}
        />
      </main>
    </div>
  );
}

function Content({ view }: { view: View | null }) {
  switch (view?.name) {
    case undefined:
      return (
        <Empty title="The console has no page at this address.">
          <a href={fragmentOf({ name: "routes" })}>Go to the routes</a>
        </Empty>
      );
    case "routes":
      return <RoutesView />;
    case "services":
      return <ServicesView />;
    case "service":
      return <ServiceView name={view.service} />;
    case "revisions":
      return <RevisionsView service={view.service} revision={view.revision} />;
    case "lookup":
      return <LookupView />;
    case "apply":
      return <ApplyView />;
    case "gateways":
      return <GatewaysView />;
    case "operator":
      return <OperatorView />;
  }
}
