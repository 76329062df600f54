import { Empty, useHeading } from "@ostiary/lib/page";
import { useComputed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { addressAt, addressOf } from "./address.ts";
import { ChosenOrganization } from "./organizations/chosen-organization.tsx";
import { type Session, SessionContext, useSession } from "./page-session.ts";
import { Account } from "./parts/account.tsx";
import { BrandLinks, BrandMark } from "./parts/brand.tsx";
import { useKeptFocus } from "./parts/use-kept-focus.ts";
import { WaitingNotice } from "./parts/waiting-notice.tsx";
import { SignIn } from "./sign-in/sign-in.tsx";
import { LanguageContext, useTexts } from "./texts/texts.ts";
import { VIEWS, type View, viewAt } from "./views.ts";

/** Renders the whole page. */
export function Portal({ session }: { session: Session }) {
  const language = session.language.value;
  useEffect(() => {
    const follow = () => {
      session.address.value = addressAt(location.hash);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return (
    <SessionContext.Provider value={session}>
      <LanguageContext.Provider value={language}>
        {session.state.value.name === "signed-in" ? <Shell /> : <SignIn />}
        <Announcement />
      </LanguageContext.Provider>
    </SessionContext.Provider>
  );
}

function Announcement() {
  const { announcement } = useSession();
  const { status } = useTexts();
  return (
    <div class="sr" role="status" aria-label={status}>
      {announcement.value}
    </div>
  );
}

function Shell() {
  const session = useSession();
  const texts = useTexts();
  const { organization_id, path } = session.address.value;
  const scope = organization_id === null ? "person" : "organization";
  const view = viewAt(path, scope);
  const title = view === null ? texts.nowhere.title : view.title(texts);
  useKeptFocus();
  useHeading(title, session.settings.brand.name);
  return (
    <div class="shell">
      <button type="button" class="button skip" onClick={() => document.querySelector("main")?.focus()}>
        {texts.skip}
      </button>
      <header class="side">
        <BrandMark />
        <Navigation present={view} />
        <Account />
      </header>
      <main id="main" tabIndex={-1}>
        <WaitingNotice />
        <h1 tabIndex={-1}>{title}</h1>
        {scope === "organization" && organization_id !== null ? (
          <ChosenOrganization key={organization_id} id={organization_id}>
            <Content key={`${organization_id} ${path}`} view={view} />
          </ChosenOrganization>
        ) : (
          <Content key={path} view={view} />
        )}
        <BrandLinks />
      </main>
    </div>
  );
}

function Content({ view }: { view: View | null }) {
  const { nowhere } = useTexts();
  const place = useSession().address.value;
  if (view !== null) return <view.Component place={place} />;
  return (
    <Empty title={nowhere.text}>
      <a href="#/organizations">{nowhere.home}</a>
    </Empty>
  );
}

/** Lists the views of the chosen organization that the member's role allows, and the person's own views. */
function Navigation({ present }: { present: View | null }) {
  const session = useSession();
  const texts = useTexts();
  const chosen = useComputed(() => session.member.value);
  const member = chosen.value;
  const shown = VIEWS.filter(
    ({ unlisted, scope, label }) =>
      !unlisted && (scope === "person" || member !== null) && (label === undefined || session.may(label)),
  );
  return (
    <nav aria-label={texts.navigation}>
      {member !== null && <p class="chosen">{member.organizationName}</p>}
      <ul class="places">
        {shown.map((view) => (
          <li key={view.scope + view.path}>
            <a
              href={addressOf(view, member?.organization_id ?? null)}
              aria-current={view === present ? "page" : undefined}
            >
              {view.title(texts)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
