/**
 * Counts in every bucket given and answers with count and milliseconds left of each, in one step. A key that has
 * lost its expiry gets one again: it would otherwise refuse its callers for ever. A key that holds no count
 * answers 0 and spoils no other; a server that takes no writes fails the whole, so that the client leaves it.
 */
const countScript = `
local answers = {}
for index, key in ipairs(KEYS) do
  local count = redis.pcall('INCR', key)
  local ttl = -1
  if type(count) == 'table' then
    if string.find(count.err, 'READONLY', 1, true) then return count end
    count = 0
  else
    if count > 1 then ttl = redis.call('PTTL', key) end
    if ttl < 0 then
      ttl = tonumber(ARGV[index])
      redis.call('PEXPIRE', key, ttl)
    end
  end
  answers[2 * index - 1] = count
  answers[2 * index] = ttl
end
return answers
`;

/** The commands a client gets by `scripts`, sent by hash; a server that does not know the hash is sent the text. */
export const scripts = { countInWindows: { lua: countScript } };

export interface ScriptCommands {
  /**
   * Takes the number of keys, the keys, and the length of each one's window in milliseconds. Resolves with count
   * and milliseconds left of each, one after the other.
   */
  countInWindows(keys: number, ...keysAndWindows: (string | number)[]): Promise<number[]>;
}
