/**
 * Sets variables that the runtime reads only when the process starts. If one is missing from `env`, this
 * process replaces itself by the same program with all variables set. The process keeps its id, arguments and
 * open files. Call this function before anything is opened.
 *
 * One such variable is `BUN_CONFIG_MAX_HTTP_REQUESTS`, the limit on `fetch` calls in flight (256 by default,
 * at most 65336). A value that an operator has set is kept.
 */
export function withRuntimeVariables(
  env: Readonly<Record<string, string | undefined>>,
  variables: Readonly<Record<string, string>>,
): void {
  const missing = Object.keys(variables).some((name) => env[name] === undefined);
  // Windows cannot replace a process, so the runtime's defaults apply there.
  if (!missing || process.execve === undefined) return;
  const [, script = "", ...rest] = process.argv;
  const program = script.startsWith(COMPILED_ROOT) ? [] : [script];
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...program, ...rest], {
    ...variables,
    ...env,
  });
}

/** The folder of the scripts in a compiled executable, which starts them itself. */
const COMPILED_ROOT = "/$bunfs/";
