-- A script for wrk that sends requests of one method, and prints the results as one line of JSON. Arguments: the method,
-- a file with a body on each line (or `-` for no bodies), and the paths. Requests use the paths and bodies in rotation.
local requests, latest = {}, 0

function init(args)
  local method, file = args[1], args[2]
  local bodies = {}
  if file ~= "-" then
    for line in io.lines(file) do bodies[#bodies + 1] = line end
  end
  local paths = #args - 2
  for index = 1, math.max(paths, #bodies) do
    local path = args[3 + (index - 1) % paths]
    requests[index] = wrk.format(method, path, nil, bodies[1 + (index - 1) % math.max(1, #bodies)])
  end
end

function request()
  latest = latest % #requests + 1
  return requests[latest]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"duration_us":%d,"p50_us":%d,"p90_us":%d,"p99_us":%d,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(90),
    latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
