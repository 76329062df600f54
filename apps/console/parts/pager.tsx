import { Button } from "@ostiary/lib/page";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { pageOf } from "./pages.ts";

interface Step {
  text: string;
  /** Turns the page, or null at the end of the list. */
  turn: (() => void) | null;
}

interface PagerProps {
  label: string;
  back: readonly Step[];
  on: readonly Step[];
  children: ComponentChildren;
}

/** Shows buttons that turn the pages, or nothing for a single page. `disabled` would take the focus from a button. */
export function Pager({ label, back, on, children }: PagerProps) {
  if ([...back, ...on].every(({ turn }) => turn === null)) return null;
  const button = ({ text, turn }: Step) => (
    <Button key={text} aria-disabled={turn === null} onClick={() => turn?.()}>
      {text}
    </Button>
  );
  return (
    <nav class="pager" aria-label={label}>
      {back.map(button)}
      <span>{children}</span>
      {on.map(button)}
    </nav>
  );
}

/** Returns the page of `rows` that the operator has turned to, with its pager. `number` is the first page to show. */
export function usePages<Row>(rows: readonly Row[], label: string, number = 1) {
  const [asked, turn] = useState(number);
  const page = pageOf(rows, asked);
  const to = (text: string, other: number) => ({
    text,
    turn: other === page.number ? null : () => turn(other),
  });
  const pager = (
    <Pager
      label={label}
      back={[to("First", 1), to("Previous", Math.max(1, page.number - 1))]}
      on={[to("Next", Math.min(page.count, page.number + 1)), to("Last", page.count)]}
    >
      Page {page.number.toLocaleString("en")} of {page.count.toLocaleString("en")}
    </Pager>
  );
  return { ...page, pager, turn };
}
