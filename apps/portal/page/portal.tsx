import {
  Empty,
  FailureNotice,
  failed,
  formatsOf,
  Notice,
  Page,
  type PageTexts,
  Places,
  Select,
  Shell,
  useKeptFocus,
} from "@ostiary/lib/page";
import { useEffect, useState } from "preact/hooks";
import { ChosenOrganization } from "./organizations/organizations-view.tsx";
import { Account, BrandLinks, BrandMark } from "./parts/brand.tsx";
import { addressOf, OVERVIEW } from "./portal-address.ts";
import { type Session, SessionProvider, useSession } from "./portal-session.ts";
import { NameOffer } from "./profile/profile-view.tsx";
import { SignIn } from "./sign-in/sign-in.tsx";
import { LanguageContext, type Texts, textsOf, useTexts } from "./texts/texts.ts";
import { VIEWS, type View, viewAt } from "./views.ts";

export function Portal({ session }: { session: Session }) {
  const language = session.language.value;
  const texts = textsOf(language);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return (
    <SessionProvider value={session}>
      <LanguageContext.Provider value={language}>
        <Page pageTexts={pageTextsOf(texts, session)} session={session} status={texts.status}>
          {session.state.value.name === "signed-in" ? <Chosen /> : <SignIn />}
        </Page>
      </LanguageContext.Provider>
    </SessionProvider>
  );
}

/** Returns the words of the portal for the parts that it shares with the console. */
function pageTextsOf(texts: Texts, session: Session): PageTexts {
  return {
    texts,
    formats: formatsOf(texts.locale),
    signIn: { text: texts.account.again, run: () => void session.signIn() },
    problem: ({ message }) => message,
    explain({ kind, message, fields, outcomeUnknown }) {
      const [title = "", text = ""] = outcomeUnknown ? texts.unknown : texts.failures[kind];
      // The service's message is shown where it says more than the page's own text.
      const saysMore = message !== "" && (kind === "conflict" || (kind === "invalid" && fields.length === 0));
      return {
        title,
        text,
        tone: outcomeUnknown || kind === "conflict" ? "warn" : "bad",
        more: saysMore && <p>{message}</p>,
      };
    },
  };
}

function Chosen() {
  const session = useSession();
  const texts = useTexts();
  const { organization_id, path } = session.address.value;
  const view = viewAt(path, organization_id === null ? "person" : "organization");
  useKeptFocus();
  return (
    <Shell
      title={view === null ? texts.nowhere.title : view.title(texts)}
      page={session.settings.brand.name}
      skip={texts.skip}
      brand={<BrandMark />}
      side={
        <>
          <Navigation present={view} />
          <Account />
        </>
      }
      above={
        <>
          <WaitingNotice />
          <NameOffer />
        </>
      }
    >
      {organization_id === null ? (
        <Content key={path} view={view} />
      ) : (
        <ChosenOrganization key={organization_id} id={organization_id}>
          <Content key={`${organization_id} ${path}`} view={view} />
        </ChosenOrganization>
      )}
      <BrandLinks />
    </Shell>
  );
}

function Content({ view }: { view: View | null }) {
  const { nowhere } = useTexts();
  const session = useSession();
  const place = session.address.value;
  const { label } = view ?? {};
  if (label !== undefined && !session.may(label)) return <FailureNotice {...failed("forbidden")} />;
  if (view !== null) return <view.Component place={place} />;
  return (
    <Empty title={nowhere.text}>
      <a href="#/organizations">{nowhere.home}</a>
    </Empty>
  );
}

/** Lets the person choose an organization, and lists its views that the role allows, and the person's own views. */
function Navigation({ present }: { present: View | null }) {
  const session = useSession();
  const texts = useTexts();
  const member = session.member.value;
  const placesOf = (scope: View["scope"]) =>
    VIEWS.filter(
      (view) =>
        !view.unlisted && view.scope === scope && (view.label === undefined || session.may(view.label)),
    ).map((view) => ({
      key: view.path,
      href: addressOf(view, member?.organization_id ?? null),
      text: view.title(texts),
      isPresent: view === present,
    }));
  return (
    <>
      <Switcher />
      {member !== null && <Places label={texts.organization} places={placesOf("organization")} />}
      <hr />
      <Places label={texts.navigation} places={placesOf("person")} />
    </>
  );
}

function Switcher() {
  const { organization, member } = useSession();
  const texts = useTexts();
  const all = organization.memberships.value;
  const chosen = member.value;
  useEffect(() => {
    if (all === null) void organization.list();
  }, [all]);
  if (all === null || all.length === 0) return null;
  const known = all.map(({ organization: { id, name } }) => ({ value: id, text: name }));
  return (
    <Select
      class="switcher"
      aria-label={texts.organization}
      value={chosen?.organization_id ?? ""}
      options={[...(chosen === null ? [{ value: "", text: texts.organizations.choose }] : []), ...known]}
      onInput={(id) => {
        location.hash = addressOf(OVERVIEW, id);
      }}
    />
  );
}

const TICK_MS = 1_000;

/** Shows that calls wait because of a rate limit, and for how long. */
function WaitingNotice() {
  const waiting = useSession().gateway.waiting.value;
  const texts = useTexts();
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (waiting === null) return;
    setNow(Date.now());
    const ticking = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(ticking);
  }, [waiting]);
  if (waiting === null) return null;
  const seconds = Math.max(1, Math.ceil((waiting.untilMs - now) / 1_000));
  return (
    <Notice tone="warn" role="status">
      <p>{texts.waiting(seconds)}</p>
      {waiting.limit !== null && (
        <p class="quiet small">{texts.limit(waiting.limit, waiting.remaining ?? "0")}</p>
      )}
    </Notice>
  );
}
