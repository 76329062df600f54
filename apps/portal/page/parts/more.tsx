import { useTexts } from "../texts/texts.ts";

/** Shows the button "Show more" of a list. */
export function More({ loading, onMore }: { loading: boolean; onMore: () => void }) {
  const texts = useTexts();
  return (
    <button type="button" class="button" aria-disabled={loading} onClick={() => !loading && onMore()}>
      {loading ? texts.loading : texts.more}
    </button>
  );
}
