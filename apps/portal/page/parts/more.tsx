import { useTexts } from "../texts/texts.ts";

/** Reads the next page of a list. */
export function More({ loading, onMore }: { loading: boolean; onMore: () => void }) {
  const texts = useTexts();
  return (
    <button type="button" class="button" aria-disabled={loading} onClick={() => !loading && onMore()}>
      {loading ? texts.loading : texts.more}
    </button>
  );
}
