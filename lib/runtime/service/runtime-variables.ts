/**
 * Sees to variables that the runtime reads once, when the process starts: where `env` lacks them, this process
 * replaces itself by the same program with them set. It keeps its id, its arguments and its open files, so
 * nothing outside notices. To be called before anything is opened.
 *
 * `BUN_CONFIG_MAX_HTTP_REQUESTS`, how many `fetch` calls may be in flight (256 unless told, at most 65336), is
 * such a variable. An operator who has set one keeps it.
 */
export function withRuntimeVariables(
  env: Readonly<Record<string, string | undefined>>,
  variables: Readonly<Record<string, string>>,
): void {
  const missing = Object.keys(variables).some((name) => env[name] === undefined);
  // Windows can not replace a process: there the runtime's defaults hold
  if (!missing || process.execve === undefined) return;
  const [, script = "", ...rest] = process.argv;
  const program = script.startsWith(COMPILED_ROOT) ? [] : [script];
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...program, ...rest], {
    ...variables,
    ...env,
  });
}

/** Where a compiled executable keeps its scripts; it starts them by itself. */
const COMPILED_ROOT = "/$bunfs/";
