/** The English words of the parts of this library. */
export const ENGLISH = {
  loading: "Loading …",
  again: "Try again",
  more: "Show more",
  found: (found: string, all: string) => `${found} of ${all} match.`,
  noneFound: "Nothing matches.",
  copied: "Copied",
  notCopied: "Your browser did not copy it. Select the text and copy it yourself.",
  request: "Request",
  menu: "Menu",
  retryIn: (duration: string) => `Try again in ${duration}.`,
};

/** The English reasons why a page asks for a sign-in. */
export const ENGLISH_SIGN_IN = {
  out: "You are signed out.",
  ended: "Your sign-in has ended. Sign in again to continue.",
  refused: "The identity provider refused the sign-in.",
  unsafe: "This sign-in was not completed, because it did not start in this window. Sign in again.",
  unavailable: "The identity provider does not respond. Try again in a moment.",
  insecure:
    "Browsers sign people in only on pages that use https. Open this page with https, or ask the operator for the right address.",
  blocked:
    "Your browser blocks the storage that a sign-in needs. Allow this site to store data, for example outside of a private window, and sign in again.",
  clock:
    "The clock of this device is wrong, so the sign-in cannot be checked. Set the date, the time and the time zone, and sign in again.",
};
