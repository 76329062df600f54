import { Button } from "@ostiary/lib/page";
import type { Page } from "./pages.ts";

interface PagerProps {
  page: Page<unknown>;
  /** The accessible name of the pager. */
  label: string;
  onTurn: (number: number) => void;
}

/** Shows buttons that turn the pages, or nothing for a single page. */
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

/** Renders one button. Uses `aria-disabled`, because `disabled` would take the focus from the button. */
function Step({ text, to, off, onTurn }: StepProps) {
  return (
    <Button aria-disabled={off} onClick={() => !off && onTurn(to)}>
      {text}
    </Button>
  );
}
