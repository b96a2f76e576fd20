package document

import (
	"encoding/json"
	"strconv"

	"pulltrail/ingest/evidence"
)

// httpSeen is a request over plain HTTP that a sensor on the network saw.
type httpSeen struct {
	client, method, host, uri, agent string
	status, size                     int64
	at                               string // ISO 8601 or seconds since 1970
}

// feed hands the request on as the object in which servers log theirs
// ([tool.AccessObjects]): a package that came is then known by its path.
func (h httpSeen) feed(l *evidence.Line, o *evidence.Out) {
	if h.client == "" || h.method == "" || h.uri == "" || h.status == 0 {
		return
	}
	record, err := json.Marshal(map[string]string{
		"time": h.at, "remote_addr": h.client, "request_method": h.method, "request_uri": h.uri, "http_host": h.host,
		"status": strconv.FormatInt(h.status, 10), "body_bytes_sent": strconv.FormatInt(h.size, 10), "http_user_agent": h.agent,
	})
	if err != nil {
		return
	}
	line := *l
	line.Text = record
	o.Feed(&line, o.Stream().Child(o, []byte("http")))
}
