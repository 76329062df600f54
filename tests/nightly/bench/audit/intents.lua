-- A script for wrk that writes intents, each for a different request. Arguments: the prefix of the request ids, and the
-- body of every intent.
local prefix, body, sent = "", "", 0

function init(args)
  prefix, body = args[1], args[2]
end

function request()
  sent = sent + 1
  return wrk.format("PUT", "/internal/events/" .. prefix .. "-" .. sent, { ["Content-Type"] = "application/json" }, body)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"writes":%d,"duration_us":%d,"p50_us":%d,"p99_us":%d,"failed":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
