import { useEffect } from "preact/hooks";

/** Moves the focus to the heading of its section when the focused element goes away. */
export function useKeptFocus(): void {
  useEffect(() => {
    /** The element that last had the focus, followed by its ancestors from the inside out. */
    let last: Element[] = [];
    const remember = ({ target }: FocusEvent) => {
      last = target instanceof Element ? withParents(target) : [];
    };
    const observer = new MutationObserver(() => {
      const [focused] = last;
      if (focused === undefined || focused.isConnected || document.activeElement !== document.body) return;
      const inside = last.find(({ isConnected }) => isConnected);
      last = [];
      headingOf(inside)?.focus({ preventScroll: true });
    });
    document.addEventListener("focusin", remember);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      document.removeEventListener("focusin", remember);
    };
  }, []);
}

function withParents(element: Element): Element[] {
  const found: Element[] = [];
  for (let each: Element | null = element; each !== null; each = each.parentElement) found.push(each);
  return found;
}

function headingOf(inside: Element | undefined): HTMLElement | null {
  const part = inside?.closest("section, main") ?? document;
  const heading = part.querySelector<HTMLElement>("h1, h2, h3") ?? document.querySelector("h1");
  if (heading !== null) heading.tabIndex = -1;
  return heading;
}
