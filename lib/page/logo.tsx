/** Draws the logo: an arch with a keyhole. */
export function Logo() {
  return (
    <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <path d="M5 29V15a11 11 0 0 1 22 0v14z" fill="var(--accent)" />
      <circle cx="16" cy="15" r="3.6" fill="var(--surface)" />
      <path d="M14.4 16.5h3.2l1 8h-5.2z" fill="var(--surface)" />
    </svg>
  );
}
