const KEY = "ostiary.portal.verified.";

/** Returns the time up to which this browser has verified a log. Null if it never did, or keeps nothing. */
export function verifiedUpTo(owner_id: string): string | null {
  try {
    return localStorage.getItem(KEY + owner_id);
  } catch {
    return null;
  }
}

/** Keeps the time up to which this browser has verified a log, unless the browser blocks the storage. */
export function keepVerified(owner_id: string, sealed_at: string): void {
  try {
    localStorage.setItem(KEY + owner_id, sealed_at);
  } catch {
    // Without storage, the overview says only that the log was not verified here.
  }
}
