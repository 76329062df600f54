import { type Dispatch, type StateUpdater, useLayoutEffect, useState } from "preact/hooks";

/**
 * Returns a value that a person edits, and a function that changes it. When `given` changes, it replaces the
 * edited value.
 */
export function useDraft<Value>(given: Value): [Value, Dispatch<StateUpdater<Value>>] {
  const [draft, setDraft] = useState(given);
  // A layout effect runs before the browser handles any input. A plain effect runs later, and would discard
  // what a person types as soon as the field appears.
  useLayoutEffect(() => setDraft(given), [JSON.stringify(given)]);
  return [draft, setDraft];
}
