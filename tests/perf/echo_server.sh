#!/bin/sh
# The least MCP server that there can be: what is measured is whoever talks to it.
while IFS= read -r line; do
  case $line in
    *'"method":"notifications/'* | *'"method": "notifications/'*) continue ;;
    *'initialize"'*)
      version=${line#*\"protocolVersion\":}
      version=${version#*\"}
      version=${version%%\"*}
      result='{"protocolVersion":"'$version'","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}' ;;
    *'tools/list"'*)
      result='{"tools":[{"name":"one","inputSchema":{"type":"object"}},{"name":"two","inputSchema":{"type":"object"}}]}' ;;
    *) result='{}' ;;
  esac
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
