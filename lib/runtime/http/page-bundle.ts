export interface PageBundle {
  readonly script: string;
  readonly style: string;
}

/**
 * `entry` is the page's script, which imports its styles. Bundling takes a few hundred milliseconds, so it runs at the
 * first request for the page, or when an executable is built.
 */
export async function bundlePage(entry: string): Promise<PageBundle> {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: "browser",
    minify: true,
    jsx: { runtime: "automatic", importSource: "preact", development: false },
  });
  const text = async (type: string) => {
    const parts = outputs.filter((output) => output.type.startsWith(type)).map((output) => output.text());
    return (await Promise.all(parts)).join("\n");
  };
  const [script, style] = await Promise.all([text("text/javascript"), text("text/css")]);
  return { script, style };
}
