/**
 * Environment variables that disable Bun's last compiler stages: OMG for WebAssembly and FTL for JavaScript.
 * Tests start the embedded database often and use it for a short time, so these stages would cost more than
 * they save.
 */
export const QUICK_STARTS = { BUN_JSC_useOMGJIT: "false", BUN_JSC_useFTLJIT: "false" };
