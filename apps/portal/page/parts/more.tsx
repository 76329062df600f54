import { Button } from "@ostiary/lib/page";
import { useTexts } from "../texts/texts.ts";

/** The number of rows that a list shows at first, and that each "Show more" adds. */
export const ROWS = 100;

/** Shows the button "Show more" of a list. */
export function More({ loading, onMore }: { loading: boolean; onMore: () => void }) {
  const texts = useTexts();
  return (
    <Button aria-disabled={loading} onClick={() => !loading && onMore()}>
      {loading ? texts.loading : texts.more}
    </Button>
  );
}
