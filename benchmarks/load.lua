-- wrk's side of a load: prepared bodies or paths in turn, or a field carried from each answer into the next body.
-- Arguments: the file of bodies or paths (one a line, a path perhaps with a body after a tab), the field to carry or "-"
-- ("+paths" where the lines are paths, "+tokens" where each is a token, a tab and a body), the method, the path, then
-- headers. The environment's PAUSE_MS is a pause between an answer and the next request.

local pause = tonumber(os.getenv("PAUSE_MS") or "")
if pause then function delay() return pause end end
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(args)
  local bodies = {}
  for line in io.lines(args[1]) do bodies[#bodies + 1] = line end
  local carry, method, path, headers = args[2], args[3], args[4], {}
  for i = 5, #args do
    local name, value = args[i]:match("^([^:]+): (.*)$")
    headers[name] = value
  end
  local paths = carry == "+paths"
  local posting = paths and #bodies > 0 and bodies[1]:find("\t") ~= nil
  if #bodies > 0 and (posting or not paths) then headers["Content-Type"] = "application/json" end

  if carry == "+tokens" then
    local ready, next_one = {}, number * 7919
    for i, line in ipairs(bodies) do
      local token, body = line:match("^([^\t]+)\t(.*)$")
      headers["Authorization"] = "Bearer " .. token
      ready[i] = wrk.format(method, path, headers, body)
    end
    request = function()
      next_one = next_one + 1
      return ready[next_one % #ready + 1]
    end
  elseif carry ~= "-" and not paths then
    local body = bodies[number + 1]
    local pattern = '"' .. carry .. '":"([^"]*)"'
    request = function() return wrk.format(method, path, headers, body) end
    response = function(status, _, answer)
      local value = answer:match(pattern)
      if value then body = body:gsub(pattern, function() return '"' .. carry .. '":"' .. value .. '"' end, 1) end
    end
  elseif #bodies > 1 then
    local ready, next_one = {}, number * 7919
    for i, body in ipairs(bodies) do
      local where, said = body, nil
      if posting then where, said = body:match("^([^\t]*)\t(.*)$") elseif not paths then where, said = path, body end
      ready[i] = wrk.format(method, where, headers, said)
    end
    request = function()
      next_one = next_one + 1
      return ready[next_one % #ready + 1]
    end
  else
    local only = wrk.format(method, path, headers, bodies[1])
    request = function() return only end
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"seconds":%f,"p50":%f,"p95":%f,"p99":%f,"wrong":%d,"broken":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(95) / 1e3,
    latency:percentile(99) / 1e3, errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
