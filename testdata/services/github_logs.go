package services

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// sign sends to the store, for a minute.
func (g *GitHub) sign(w http.ResponseWriter, r *http.Request, gone int) {
	if gone != 0 {
		message(w, gone, http.StatusText(gone))
		return
	}
	q := url.Values{"se": {g.Now().Add(time.Minute).UTC().Format(time.RFC3339)}, "sig": {"s3cr3t-signature"}}
	w.Header().Set("Location", g.Store.URL+strings.TrimPrefix(r.URL.Path, "/api/v3")+"?"+q.Encode())
	w.WriteHeader(http.StatusFound)
}

// store gives logs to everybody who has an address that was signed.
func (g *GitHub) store(w http.ResponseWriter, r *http.Request) {
	fault := g.note("store", r)
	if fault.Status != 0 {
		w.WriteHeader(fault.Status)
		return
	}
	if r.URL.Query().Get("sig") != "s3cr3t-signature" || r.URL.Query().Get("se") < g.Now().UTC().Format(time.RFC3339) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	words := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	repo := g.repo(words[1] + "/" + words[2])
	for _, run := range repo.Runs {
		for n, a := range run.Attempts {
			if words[4] == "runs" && words[5] == strconv.FormatInt(run.ID, 10) && words[7] == strconv.Itoa(n+1) {
				send(w, fault, a.archive())
				return
			}
			for _, j := range a.Jobs {
				if words[4] == "jobs" && words[5] == strconv.FormatInt(j.ID, 10) {
					send(w, fault, []byte(j.Log()))
					return
				}
			}
		}
	}
	w.WriteHeader(http.StatusNotFound)
}

// archive is the log archive of an attempt: the whole log of each job.
func (a *Attempt) archive() []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, j := range a.Jobs {
		if j.Conclusion == "skipped" || j.Alone {
			continue
		}
		f, err := z.Create(fmt.Sprintf("%d_%s.txt", i, strings.ReplaceAll(j.Name, "/", "_")))
		if err == nil {
			_, err = f.Write([]byte(j.Log()))
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Log is the log of a job, from the runner's first words to its last.
func (j *Job) Log() string {
	var b strings.Builder
	at := j.Started
	line := func(text string) {
		fmt.Fprintf(&b, "%s %s\n", at.UTC().Format("2006-01-02T15:04:05.0000000Z"), text)
		at = at.Add(10 * time.Millisecond)
	}
	b.WriteString("\ufeff")
	line("Current runner version: '2.332.0'")
	line("Runner name: 'GitHub Actions 7'")
	line("Complete job name: " + j.Name)
	line("##[group]Run true")
	line("##[endgroup]")
	for _, text := range j.Lines {
		line(text)
	}
	at = j.Started.Add(time.Duration(j.Seconds) * time.Second)
	line("Cleaning up orphan processes")
	return b.String()
}
