package collect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"pulltrail/timeline"
)

// Get asks for what stands below the address of the API and reads a JSON answer;
// into is nil for another one. ok is false when it was refused, which the ledger
// has.
func (s *Session) Get(ctx context.Context, at string, query url.Values, want Want, into any) (a *Answer, ok bool, err error) {
	address := s.Base() + at
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, false, err
	}
	if want.Accept != "" {
		r.Header.Set("Accept", want.Accept)
	} else if want.Raw {
		r.Header.Set("Accept", "text/plain")
	}
	if a, err = s.Ask(r, want); err != nil || a.Reply != timeline.Obtained {
		return a, false, err
	}
	if into != nil {
		if err := a.Decode(into); err != nil {
			return nil, false, err
		}
	}
	return a, true, nil
}

// ErrMalformed is returned for an answer that is not of the form that was asked
// for.
var ErrMalformed = errors.New("it is not what was asked for")

// Decode reads a JSON answer.
func (a *Answer) Decode(into any) error {
	in, err := a.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	if err := json.NewDecoder(io.LimitReader(in, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("%s: %w: %w", a.URL, ErrMalformed, err)
	}
	return nil
}

// Next is the query of the next page of a list, nil for none. Where it leads is
// not believed, only where in the list.
//
//	Link: <https://gitlab.com/api/v4/projects/7/jobs?cursor=eyJpZCI6IjkxIn0&pagination=keyset>; rel="next"
//
// https://www.rfc-editor.org/rfc/rfc8288
func (a *Answer) Next() url.Values {
	var head http.Header
	if err := json.Unmarshal([]byte(a.Head), &head); err != nil {
		return nil
	}
	for _, link := range strings.Split(strings.Join(head["Link"], ", "), ", ") {
		target, rel, _ := strings.Cut(link, ">")
		if u, err := url.Parse(strings.TrimPrefix(strings.TrimSpace(target), "<")); err == nil && strings.Contains(rel, `rel="next"`) {
			return u.Query()
		}
	}
	return nil
}

// Only keeps of an answer what T has: a Want.Keep.
func Only[T any](body []byte) ([]byte, error) {
	var in T
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	return json.Marshal(in)
}
