/**
 * If `env` lacks a variable that the runtime reads only at process start, this process replaces itself, before anything
 * is opened. It keeps its id, arguments and open files. Values that an operator has set are kept.
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

/** A compiled executable starts its script without an argument. */
const COMPILED_ROOT = "/$bunfs/";
