/** The maximum difference between two readings of the time at which one window ends. */
const CLOCK_STEP_MS = 5;

/**
 * `ttl_of` returns the milliseconds until a window ends. A window ends after `longest` at the latest. A window without
 * an end gets `length`, because it could block its callers forever.
 */
const ttlFunction = `
local function ttl_of(key, length, longest)
  local ttl = redis.call('PTTL', key)
  if ttl >= 0 and ttl <= longest then return ttl end
  ttl = ttl < 0 and length or longest
  redis.pcall('PEXPIRE', key, ttl)
  return ttl
end
`;

/** `now_ms` is the clock of the server in epoch milliseconds. */
const nowVariable = `
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * `count_of` returns the count in the reply of `GET`, or nil if it is not one. It accepts less than INCR: an INCR that
 * fails would fail the whole script, and so the buckets of other callers. Lua reads '1.5' and '0x10' as numbers.
 */
const countFunction = `
local function count_of(value)
  if type(value) == 'string' and #value <= 16 and (value == '0' or string.find(value, '^-?[1-9]%d*$')) then
    return tonumber(value)
  end
  return nil
end
`;

/**
 * Increments all buckets, and returns count and remaining milliseconds of each. A key whose value is not a number has
 * the count 0. On a read-only server the whole script fails, so the client switches to another server.
 */
const countScript = `${ttlFunction}
local results = {}
for index, key in ipairs(KEYS) do
  local count = redis.pcall('INCR', key)
  local ttl = 0
  if type(count) == 'table' then
    if string.find(count.err, 'READONLY', 1, true) then return count end
    count = 0
  else
    local length = tonumber(ARGV[index])
    ttl = ttl_of(key, length, length)
  end
  results[2 * index - 1] = count
  results[2 * index] = ttl
end
return results
`;

/**
 * Adds one to each bucket of every group without an exhausted bucket. The argument is a JSON list of the groups, in the
 * order of the keys. A group is a list of its buckets, and a bucket is a list of four numbers: the length of a new
 * window, the longest time that an open window may still last, `requests` and `start`. Returns the server's clock, then
 * the same as `countScript`. The count of an exhausted bucket is at least its `requests` plus one. The count of a new
 * bucket is its `start`, even if the group is refused. A `start` of -1 means unknown: unless another bucket is
 * exhausted, nothing is added, and every count of the group is -2. A key whose value is not a number has the count -1.
 */
const chargeScript = `${ttlFunction}${nowVariable}${countFunction}
local results = { now_ms }
local first = 0
for _, group in ipairs(cjson.decode(ARGV[1])) do
  local refused = false
  local unknown = false
  local counts = {}
  local open = {}
  for member, bucket in ipairs(group) do
    local value = redis.pcall('GET', KEYS[first + member])
    local start = 0
    local count
    open[member] = value ~= false
    if value == false then
      start = bucket[4]
      count = math.max(start, 0)
    else
      count = count_of(value)
    end
    counts[member] = count
    if start < 0 then
      unknown = true
    elseif not count or count >= bucket[3] then
      refused = true
    end
  end
  for member, bucket in ipairs(group) do
    local index = first + member
    local key = KEYS[index]
    local length, longest, requests = bucket[1], bucket[2], bucket[3]
    local count = counts[member]
    local ttl = length
    if not count then
      count = -1
    elseif unknown and not refused then
      count = -2
    else
      local charged = refused and count or count + 1
      local written = 0
      if not open[member] and charged > 0 then
        written = redis.pcall('SET', key, charged, 'PX', length)
      elseif open[member] and not refused then
        written = redis.pcall('INCR', key)
      end
      if type(written) == 'table' and written.err then return written end
      if open[member] then ttl = ttl_of(key, length, longest) end
      count = count >= requests and count + 1 or charged
    end
    results[2 * index] = count
    results[2 * index + 1] = ttl
  end
  first = first + #group
end
return results
`;

/**
 * Subtracts one from each bucket whose window ends at the given time. The clock can advance within a script, so two
 * readings of one end can differ. Returns 1 for each bucket that was refunded, and 0 for each other bucket.
 */
const refundScript = `${nowVariable}
local results = {}
for index, key in ipairs(KEYS) do
  local ttl = redis.call('PTTL', key)
  local count = ttl > 0 and tonumber(redis.call('GET', key)) or 0
  results[index] = 0
  if count > 0 and math.abs(now_ms + ttl - tonumber(ARGV[index])) <= ${CLOCK_STEP_MS} then
    redis.call('DECR', key)
    results[index] = 1
  end
end
return results
`;

/** ioredis sends the hash of a script, and the text only if the server does not know the hash. */
export const scripts = {
  countInWindows: { lua: countScript },
  chargeGroups: { lua: chargeScript },
  refundCharges: { lua: refundScript },
};

export interface ScriptCommands {
  /** Takes the number of keys, the keys, and their windows in ms. Resolves with count and ms left of each key. */
  countInWindows(keys: number, ...keysAndWindows: (string | number)[]): Promise<number[]>;
  /**
   * Takes the number of keys, the keys, and the groups of their numbers as JSON. Resolves with the server's clock,
   * followed by a list like that of {@link countInWindows}.
   */
  chargeGroups(keys: number, ...keysAndGroups: (string | number)[]): Promise<number[]>;
  /** Takes the number of keys, the keys, and the end of each key's window in epoch milliseconds of the server. */
  refundCharges(keys: number, ...keysAndEnds: (string | number)[]): Promise<number[]>;
}
