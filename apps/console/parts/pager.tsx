import type { Page } from "./pages.ts";

interface PagerProps {
  page: Page<unknown>;
  /** What the pages are of, for a screen reader. */
  label: string;
  onTurn: (number: number) => void;
}

/** Nothing where one page is all. */
export function Pager({ page, label, onTurn }: PagerProps) {
  const { number, count } = page;
  if (count === 1) return null;
  const steps = [
    { text: "First", to: 1, off: number === 1 },
    { text: "Previous", to: number - 1, off: number === 1 },
    { text: "Next", to: number + 1, off: number === count },
    { text: "Last", to: count, off: number === count },
  ];
  return (
    <nav class="pager" aria-label={label}>
      {steps.slice(0, 2).map((step) => (
        <Step key={step.text} {...step} onTurn={onTurn} />
      ))}
      <span>
        Page {number.toLocaleString("en")} of {count.toLocaleString("en")}
      </span>
      {steps.slice(2).map((step) => (
        <Step key={step.text} {...step} onTurn={onTurn} />
      ))}
    </nav>
  );
}

interface StepProps {
  text: string;
  to: number;
  off: boolean;
  onTurn: (number: number) => void;
}

/** It stays where the focus is when there is nothing further: `disabled` would lose it. */
function Step({ text, to, off, onTurn }: StepProps) {
  return (
    <button type="button" class="button" aria-disabled={off} onClick={() => !off && onTurn(to)}>
      {text}
    </button>
  );
}
