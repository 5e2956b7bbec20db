package scenario

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/cassette"
)

// An offer is a tool that a model was told of, in whatever shape its provider has.
type offer struct {
	Name     string  `json:"name"`
	Function *offer  `json:"function"` // Chat Completions
	Tools    []offer `json:"tools"`    // a namespace, of Responses
}

// called are the names by which a model calls what is offered, the first part before
// a slash where there is a namespace.
func (o offer) called() (names []string) {
	switch {
	case o.Function != nil:
		return o.Function.called()
	case len(o.Tools) > 0:
		for _, inner := range o.Tools {
			names = append(names, o.Name+"/"+inner.Name)
		}
		return names
	}
	return []string{o.Name}
}

func wordOffered(s *state, neg bool, args []string) {
	if neg || len(args) != 3 {
		s.Fatalf("usage: offered FILE PREFIX MAX")
	}
	most, err := strconv.Atoi(args[2])
	s.Check(err)
	c, err := cassette.Open(s.Path(args[0]))
	s.Check(err)
	defer c.Close()
	var out strings.Builder
	bytes, count := 0, 0
	for i := 0; i < c.Len() && count == 0; i++ {
		e, err := c.Episode(i)
		s.Check(err)
		for _, raw := range declarations(e.Request.Body) {
			var o offer
			if json.Unmarshal(raw, &o) != nil || !strings.HasPrefix(o.called()[0], args[1]) {
				continue
			}
			bytes += len(raw)
			for _, name := range o.called() {
				count++
				fmt.Fprintln(&out, name)
			}
		}
	}
	fmt.Fprintf(&out, "%d tools, %d bytes\n", count, bytes)
	s.Output([]byte(out.String()), nil)
	if count == 0 || bytes > most {
		s.Fatalf("offered %s: %d tools begin with %q, with %d bytes; the most is %d", args[0], count, args[1], bytes, most)
	}
}

// declarations are the tools of a request, each as it was sent.
func declarations(body []byte) (list []json.RawMessage) {
	var r struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(body, &r) != nil {
		return nil // no model call
	}
	for _, raw := range r.Tools {
		var o struct {
			Gemini []json.RawMessage `json:"functionDeclarations"`
		}
		if json.Unmarshal(raw, &o) == nil && o.Gemini != nil {
			list = append(list, o.Gemini...)
			continue
		}
		list = append(list, raw)
	}
	return list
}
