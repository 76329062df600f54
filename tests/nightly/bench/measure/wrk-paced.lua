-- The script wrk.lua with a pause before each request. The first argument is the mean pause in milliseconds; pauses are
-- random, so that connections do not send at the same time. The other arguments are those of wrk.lua.
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "wrk.lua")
local start, mean_ms = init, 0

function init(args)
  mean_ms = tonumber(table.remove(args, 1))
  math.randomseed(os.time())
  start(args)
end

function delay()
  return math.floor(2 * mean_ms * math.random() + 0.5)
end
