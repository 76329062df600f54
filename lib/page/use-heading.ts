import { useEffect, useRef } from "preact/hooks";

/** Moves the focus to the heading after each navigation, so that a screen reader announces the new view. */
export function useHeading(title: string, page: string): void {
  const first = useRef(true);
  useEffect(() => {
    document.title = `${title} · ${page}`;
    if (first.current) first.current = false;
    else document.querySelector("h1")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [title, page]);
}
