/**
 * Writes the parameters of a path into it, escaped. `pathname` starts with the base URL.
 * @throws TypeError for a value that no segment of a path can hold: URLs resolve dots even if they are escaped
 */
export function pathWith(pathname: string, given: Readonly<Record<string, unknown>>): string {
  return pathname.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = given[name];
    const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
    if (/^\.{0,2}$/.test(text) || !text.isWellFormed())
      throw new TypeError(`The path parameter ${name} must be a text that is not empty, "." or "..".`);
    return encodeURIComponent(text);
  });
}

/** Appends a path to the base URL, which may have a path of its own. `new URL` would drop that path. */
export function urlOf(baseUrl: string, path: string): string {
  if (!path.startsWith("/")) throw new TypeError("The path of a call must start with a slash.");
  return baseUrl + path;
}
