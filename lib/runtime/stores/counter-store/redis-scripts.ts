/**
 * Increments all buckets in one atomic step. Returns the count and the remaining milliseconds of each bucket.
 * A key without an expiry gets a new expiry, because a key that never expires could block its callers
 * forever. A key whose value is not a number has the count 0. On a read-only server the whole script fails,
 * so the client switches to another server.
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

/**
 * Adds one to each bucket of every group without an exhausted bucket. The arguments are the number of groups, the
 * size of each group, and for each bucket its window, `requests` and `start`. Returns the same as `countScript`. The
 * count of an exhausted bucket is at least its `requests` plus one. The count of a new bucket is its `start`, even if
 * the group is refused. A `start` of -1 means unknown: unless another bucket is exhausted, nothing is added, and
 * every count of the group is -2.
 */
const chargeScript = `
local groups = tonumber(ARGV[1])
local answers = {}
local first = 0
for group = 1, groups do
  local size = tonumber(ARGV[1 + group])
  local refused = false
  local unknown = false
  local counts = {}
  for member = 1, size do
    local index = first + member
    local count = redis.pcall('GET', KEYS[index])
    local start = 0
    if count == false then
      start = tonumber(ARGV[3 * index + groups + 1])
      count = math.max(start, 0)
      if start > 0 then
        local set = redis.pcall('SET', KEYS[index], start, 'PX', ARGV[3 * index + groups - 1])
        if set.err then return set end
      end
    end
    count = type(count) ~= 'table' and tonumber(count) or nil
    counts[member] = count
    if start < 0 then
      unknown = true
    elseif not count or count >= tonumber(ARGV[3 * index + groups]) then
      refused = true
    end
  end
  for member = 1, size do
    local index = first + member
    local key = KEYS[index]
    local window = tonumber(ARGV[3 * index + groups - 1])
    local count = counts[member]
    local ttl = window
    if not count then
      count = -1
    elseif unknown and not refused then
      count = -2
    elseif refused then
      if count > 0 then ttl = redis.call('PTTL', key) end
      if count >= tonumber(ARGV[3 * index + groups]) then count = count + 1 end
    else
      count = redis.pcall('INCR', key)
      if type(count) == 'table' then return count end
      if count > 1 then ttl = redis.call('PTTL', key) end
    end
    if ttl < 0 then ttl = window end
    if not refused and not unknown and (count == 1 or ttl == window) then redis.call('PEXPIRE', key, ttl) end
    answers[2 * index - 1] = count
    answers[2 * index] = ttl
  end
  first = first + size
end
return answers
`;

/**
 * Subtracts one from each bucket whose window has at most the given number of milliseconds left. A window
 * with more time left was opened later and must not be refunded.
 */
const refundScript = `
for index, key in ipairs(KEYS) do
  local ttl = redis.call('PTTL', key)
  if ttl > 0 and ttl <= tonumber(ARGV[index]) then
    local count = tonumber(redis.call('GET', key))
    if count and count > 0 then redis.call('DECR', key) end
  end
end
return 0
`;

/**
 * The commands that ioredis adds to a client. ioredis sends the hash of a script. It sends the text only if
 * the server does not know the hash.
 */
export const scripts = {
  countInWindows: { lua: countScript },
  chargeGroups: { lua: chargeScript },
  refundCharges: { lua: refundScript },
};

export interface ScriptCommands {
  /**
   * Runs `countScript`. The arguments are the number of keys, the keys, and the window of each key in
   * milliseconds. Resolves with a flat list: count and remaining milliseconds of the first key, then of the
   * next.
   */
  countInWindows(keys: number, ...keysAndWindows: (string | number)[]): Promise<number[]>;
  /**
   * Runs `chargeScript`. The arguments are the number of keys, the keys, the number of groups and the size of
   * each group. The window in milliseconds, `requests` and `start` of each key follow. Resolves like
   * {@link countInWindows}.
   */
  chargeGroups(keys: number, ...keysAndArguments: (string | number)[]): Promise<number[]>;
  /**
   * Runs `refundScript`. The arguments are the number of keys, the keys, and the maximum remaining
   * milliseconds of each key.
   */
  refundCharges(keys: number, ...keysAndTimes: (string | number)[]): Promise<number>;
}
