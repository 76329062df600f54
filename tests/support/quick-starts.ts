/**
 * The variables that Bun reads to start the embedded database with less work. Tests start it often and use it
 * shortly, so the best WebAssembly code costs more to compile than it saves. JavaScript is compiled as always.
 */
export const QUICK_STARTS = { BUN_JSC_useOMGJIT: "false" };
