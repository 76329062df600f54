/**
 * Counts and answers with the count and the milliseconds left, in one step. A key that has lost its expiry
 * gets one again: it would otherwise refuse its callers for ever.
 */
const incrementScript = `
local count = redis.call('INCR', KEYS[1])
if count > 1 then
  local ttl = redis.call('PTTL', KEYS[1])
  if ttl >= 0 then return {count, ttl} end
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {count, tonumber(ARGV[1])}
`;

/** The commands a client gets by `scripts`, sent by hash; a server that does not know the hash is sent the text. */
export const scripts = { countInWindow: { lua: incrementScript, numberOfKeys: 1 } };

export interface ScriptCommands {
  /** Resolves with the count and the milliseconds until the window ends. */
  countInWindow(key: string, window_ms: number): Promise<[number, number]>;
}
