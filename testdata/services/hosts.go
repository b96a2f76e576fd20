package services

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Hosts are the API of a service and a store on another host. They remember
// every request, and can be told what goes wrong.
type Hosts struct {
	API, Store *httptest.Server
	Token      string // the one that is known

	// Fault is asked before each request; a status other than 0 is answered in
	// place of what was asked for. n is the number of the request to that path.
	Fault func(host string, r *http.Request, n int) Fault

	mu    sync.Mutex
	seen  []Seen
	asked map[string]int
}

// start starts both hosts.
func (h *Hosts) start(api, store http.HandlerFunc) {
	h.asked = map[string]int{}
	h.Store = httptest.NewServer(h.host("store", store))
	h.API = httptest.NewUnstartedServer(h.host("api", api)) // it hands out addresses of the store, and its own
	h.API.Start()
}

// Close ends both hosts.
func (h *Hosts) Close() {
	h.API.Close()
	h.Store.Close()
}

// Requests returns what both hosts saw since the last time.
func (h *Hosts) Requests() []Seen {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := h.seen
	h.seen = nil
	return seen
}

// note remembers a request and returns what goes wrong with it.
func (h *Hosts) note(host string, r *http.Request) Fault {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen = append(h.seen, Seen{host, r.Method, r.URL.String(), r.Header.Clone()})
	h.asked[host+r.URL.Path]++
	if h.Fault == nil {
		return Fault{}
	}
	return h.Fault(host, r, h.asked[host+r.URL.Path])
}

// host answers as f does, unless something goes wrong.
func (h *Hosts) host(name string, f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		fault := h.note(name, r)
		if fault.Status != 0 {
			for k, v := range fault.Header {
				w.Header()[k] = v
			}
			w.WriteHeader(fault.Status)
			_, _ = w.Write([]byte(fault.Body))
			return
		}
		answer := httptest.NewRecorder()
		f(answer, r)
		for k, v := range answer.Header() {
			w.Header()[k] = v
		}
		if answer.Code != http.StatusOK {
			w.WriteHeader(answer.Code)
			_, _ = w.Write(answer.Body.Bytes())
			return
		}
		send(w, fault, answer.Body.Bytes())
	}
}

// Secrets lists where a secret was seen that is not for everybody: in the
// address of a request, or in a header that a store got.
func Secrets(seen []Seen, secret string) (where []string) {
	for _, s := range seen {
		if strings.Contains(s.URL, secret) {
			where = append(where, s.URL)
		}
		for name, values := range s.Header {
			if s.Host != "api" && strings.Contains(strings.Join(values, " "), secret) {
				where = append(where, s.Host+" "+name)
			}
		}
	}
	return where
}
