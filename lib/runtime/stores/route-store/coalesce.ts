/** Calls `onChange` once for all calls of one turn of the event loop, unless `wanted` says no by then. */
export function coalesce(onChange: () => void, wanted: () => boolean): () => void {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    setImmediate(() => {
      due = false;
      if (wanted()) onChange();
    });
  };
}
