import type { ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type PageTexts, PageTextsProvider, usePageTexts } from "./page-texts.ts";
import type { Announcement } from "./sign-in/page-session.ts";

interface PageProps {
  pageTexts: PageTexts;
  session: { follow(): void; readonly announcement: ReadonlySignal<Announcement> };
  status: string;
  children: ComponentChildren;
}

/** Renders a page, whose view follows the fragment of the URL. */
export function Page({ pageTexts, session, status, children }: PageProps) {
  const { text, number } = session.announcement.value;
  useEffect(() => {
    const follow = () => session.follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return (
    <PageTextsProvider value={pageTexts}>
      {children}
      <div class="toast" role="status" aria-label={status}>
        {text !== "" && <p key={number}>{text}</p>}
      </div>
    </PageTextsProvider>
  );
}

interface ShellProps {
  /** The title of the view, and the name of the page, which follows it in the window's title. */
  title: string;
  page: string;
  /** The label of the button that skips the navigation. */
  skip: string;
  /** The name of the page or company, at the top of the side bar. */
  brand: ComponentChildren;
  /** The content of the side bar. On small screens a menu shows it. */
  side: ComponentChildren;
  above?: ComponentChildren;
  children: ComponentChildren;
}

export function Shell({ title, page, skip, brand, side, above, children }: ShellProps) {
  const { menu } = usePageTexts().texts;
  const [open, setOpen] = useState(false);
  const [place, setPlace] = useState(title);
  if (place !== title) {
    setPlace(title);
    setOpen(false);
  }
  useHeading(title, page);
  return (
    <div class="shell">
      <button type="button" class="button skip" onClick={() => document.querySelector("main")?.focus()}>
        {skip}
      </button>
      <header class={open ? "side side-open" : "side"}>
        <div class="side-head">
          {brand}
          <button type="button" class="button menu" aria-expanded={open} onClick={() => setOpen(!open)}>
            {menu}
          </button>
        </div>
        <div class="side-body">{side}</div>
      </header>
      <main id="main" tabIndex={-1}>
        {above}
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </main>
    </div>
  );
}

/** Moves the focus to the heading after each navigation, so that a screen reader announces the new view. */
function useHeading(title: string, page: string): void {
  const first = useRef(true);
  useEffect(() => {
    document.title = `${title} · ${page}`;
    if (first.current) first.current = false;
    else document.querySelector("h1")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [title, page]);
}

interface PlacesProps {
  label: string;
  places: readonly { key: string; href: string; text: string; isPresent: boolean }[];
}

export function Places({ label, places }: PlacesProps) {
  return (
    <nav aria-label={label}>
      <ul class="places">
        {places.map(({ key, href, text, isPresent }) => (
          <li key={key}>
            <a href={href} aria-current={isPresent ? "page" : undefined}>
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
