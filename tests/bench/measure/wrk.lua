-- Asks for the paths given after `--` in turn, and ends with one line of JSON.
local requests, latest = {}, 0

function init(args)
  for index, path in ipairs(args) do
    requests[index] = wrk.format("GET", path)
  end
end

function request()
  latest = latest % #requests + 1
  return requests[latest]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
