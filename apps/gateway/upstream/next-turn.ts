/** Resolves in the next turn of the event loop: what has come by the network meanwhile is known then. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
