import { Button, Empty, fragmentTo, Page, Places, Shell } from "@ostiary/lib/page";
import type { ComponentType } from "preact";
import { ApplyView } from "./apply/apply-view.tsx";
import { ChangesView } from "./changes/changes-view.tsx";
import { fragmentOf, type PlainView, titleOf, type View as ViewName } from "./console-address.ts";
import { type Session, SessionProvider, useOperator, useSession } from "./console-session.ts";
import { GatewaysView } from "./gateways/gateways-view.tsx";
import { LookupView } from "./lookup/lookup-view.tsx";
import { OperatorsView } from "./operator/operators-view.tsx";
import { mayWrite } from "./operator/permissions.ts";
import { PAGE_TEXTS } from "./page-texts.tsx";
import { RevisionsView } from "./revisions/revisions-view.tsx";
import { RoutesView } from "./routes/route-explorer.tsx";
import { DeletedView } from "./services/deleted-view.tsx";
import { ServiceView } from "./services/service-view.tsx";
import { ServicesView } from "./services/services-view.tsx";
import { Brand, SignIn } from "./sign-in/sign-in.tsx";

export function Console({ session }: { session: Session }) {
  return (
    <SessionProvider value={session}>
      <Page pageTexts={PAGE_TEXTS} session={session} status="Status messages">
        {session.state.value.name === "signed-in" ? <View /> : <SignIn />}
      </Page>
    </SessionProvider>
  );
}

/** The views with a fixed address. The navigation shows those with a label. */
const VIEWS: Readonly<Record<PlainView, { label?: string; Content: ComponentType }>> = {
  routes: { label: "Routes", Content: RoutesView },
  services: { label: "Services", Content: ServicesView },
  deleted: { Content: DeletedView },
  changes: { label: "Changes", Content: ChangesView },
  lookup: { label: "Look up", Content: LookupView },
  apply: { label: "Apply", Content: ApplyView },
  gateways: { label: "Gateways", Content: GatewaysView },
  operators: { label: "Operators", Content: OperatorsView },
};

/** The views below the list of services. */
const OF_SERVICES: ReadonlySet<ViewName["name"]> = new Set(["service", "revisions", "deleted"]);

/** Returns the heading of a view. A reader can review a document but not apply it. */
function headingOf(view: ViewName | null, writes: boolean): string {
  if (view === null) return "There is no such page";
  return view.name === "apply" && !writes ? "Review a document" : titleOf(view);
}

function View() {
  const session = useSession();
  const view = session.address.value;
  const place = view !== null && OF_SERVICES.has(view.name) ? "services" : view?.name;
  const writes = mayWrite(useOperator());
  const places = Object.entries(VIEWS).flatMap(([name, { label }]) => {
    if (label === undefined) return [];
    const text = name === "apply" && !writes ? "Review" : label;
    return [{ key: name, href: fragmentTo({ segments: [name] }), text, isPresent: name === place }];
  });
  return (
    <Shell
      title={headingOf(view, writes)}
      page="Ostiary console"
      skip="Skip to the content"
      brand={<Brand />}
      side={
        <>
          <Places label="Console" places={places} />
          <Account />
        </>
      }
    >
      <Content
        key={view === null ? "" : fragmentOf(view).replace(/\/revisions\/.*/, "/revisions")}
        view={view}
      />
    </Shell>
  );
}

function Account() {
  const session = useSession();
  const { name, role } = useOperator();
  return (
    <div class="account">
      <p class="quiet small">
        Signed in as <a href={fragmentOf({ name: "operators" })}>{name}</a>, {role}
      </p>
      <Button onClick={() => session.leave()}>
        {session.signedInBy.value === "provider" ? "Sign out" : "Forget token"}
      </Button>
    </div>
  );
}

function Content({ view }: { view: ViewName | null }) {
  if (view === null) {
    return (
      <Empty title="The console has no page at this address.">
        <a href={fragmentOf({ name: "routes" })}>Go to the routes</a>
      </Empty>
    );
  }
  if (view.name === "service") return <ServiceView name={view.service} />;
  if (view.name === "revisions") return <RevisionsView {...view} />;
  const { Content: Plain } = VIEWS[view.name];
  return <Plain />;
}
