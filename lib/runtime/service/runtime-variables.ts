/**
 * Sets environment variables that the runtime reads only at process start. If `env` lacks such a variable, this
 * process replaces itself with the same program and all variables set. The process keeps its id, arguments and open
 * files. Call this function before anything is opened. One of these variables is `BUN_CONFIG_MAX_HTTP_REQUESTS`, the
 * limit on `fetch` calls in flight (256 by default, at most 65336). Values that an operator has set are kept.
 */
export function withRuntimeVariables(
  env: Readonly<Record<string, string | undefined>>,
  variables: Readonly<Record<string, string>>,
): void {
  const missing = Object.keys(variables).some((name) => env[name] === undefined);
  if (!missing) return;
  const [, script = "", ...rest] = process.argv;
  const program = script.startsWith(COMPILED_ROOT) ? [] : [script];
  process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...program, ...rest], {
    ...variables,
    ...env,
  });
}

/**
 * The folder of the scripts in a compiled executable. The executable starts its script without an argument.
 */
const COMPILED_ROOT = "/$bunfs/";
