curl --fail-with-body ${RERAIL_TOKEN:+--header "authorization: Bearer $RERAIL_TOKEN"} \
  --data-binary @trace.json --header 'content-type: application/json' \
  http://127.0.0.1:3000/api/v1/traces
