/** The colors of a brand, as `#rrggbb`. */
export interface BrandColors {
  accent?: string;
  accent_dark?: string;
}

/** The background color of a color scheme, and the share of the accent color in highlighted backgrounds. */
const LIGHT = { ground: "#ffffff", soft: 0.1 };
const DARK = { ground: "#1b1e1d", soft: 0.16 };

const CONTRAST_MIN = 4.5;

/** Returns the style sheet that replaces the page's own accent colors. */
export function brandStyle({ accent, accent_dark }: BrandColors): string {
  const light = accent === undefined ? "" : `:root{${variablesOf(accent, LIGHT)}}`;
  const dark = accent_dark === undefined ? "" : `:root{${variablesOf(accent_dark, DARK)}}`;
  // The light accent color applies only in the light scheme: its contrast in the dark scheme is not checked.
  return [
    light && `@media (prefers-color-scheme:light){${light}}`,
    dark && `@media (prefers-color-scheme:dark){${dark}}`,
  ].join("\n");
}

function variablesOf(accent: string, scheme: typeof LIGHT): string {
  const ink = contrast(accent, "#ffffff") >= contrast(accent, "#000000") ? "#ffffff" : "#000000";
  return `--accent:${accent};--accent-ink:${ink};--accent-soft:${softOf(accent, scheme)}`;
}

/** Returns why an accent color has too little contrast in its scheme, or null if it has enough. */
export function unreadable(accent: string, dark: boolean): string | null {
  const scheme = dark ? DARK : LIGHT;
  const worst = Math.min(contrast(accent, scheme.ground), contrast(accent, softOf(accent, scheme)));
  if (worst >= CONTRAST_MIN) return null;
  const ground = dark
    ? "the dark background; choose a lighter color"
    : "the light background; choose a darker color";
  return `has a contrast of ${worst.toFixed(1)}, but at least 4.5 is required on ${ground}`;
}

function softOf(accent: string, { ground, soft }: typeof LIGHT): string {
  const [over, under] = [channels(accent), channels(ground)];
  const mixed = over.map((value, index) => Math.round(value * soft + (under[index] ?? 0) * (1 - soft)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

function channels(color: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16));
}

/** Returns the contrast ratio of two colors by WCAG 2.2. */
function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
