package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/script"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/transcript"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// recordResult is what record prints with --json.
type recordResult struct {
	scenarioResult
	DryRun     bool           `json:"dry_run" jsonschema:"nothing was sent: calls and cost are foreseen"`
	Recordings []recordingRow `json:"recordings" jsonschema:"the cassettes, in the order in which their scenarios ended"`
}

// A recordingRow is what was sent for one cassette, or would be.
type recordingRow struct {
	Cassette string        `json:"cassette" jsonschema:"area/name"`
	Mode     string        `json:"mode" jsonschema:"record or fill"`
	Scripted bool          `json:"scripted" jsonschema:"a script answers: nothing is paid"`
	Calls    []recordedRow `json:"calls" jsonschema:"requests that went out, or would, in order"`
	Cost     int64         `json:"cost" jsonschema:"pico-dollars of the calls whose cost is known"`
	Unknown  int           `json:"unknown" jsonschema:"calls whose cost is not known"`
	Open     bool          `json:"open" jsonschema:"a dry run that ends before the scenario does: more calls may follow"`
	Error    string        `json:"error,omitempty" jsonschema:"UPPER_SNAKE code of why the recording was not kept"`
}

// A recordedRow is one request.
type recordedRow struct {
	Line     int    `json:"line,omitempty" jsonschema:"the episode that holds the answer, 1 is the first; in a dry run of the cassette that there is"`
	Replaces int    `json:"replaces,omitempty" jsonschema:"the episode that was recorded anew, 1 is the first"`
	Lane     string `json:"lane,omitempty" jsonschema:"which agent spoke"`
	Method   string `json:"method" jsonschema:"HTTP method"`
	URL      string `json:"url" jsonschema:"what was asked, redacted"`
	Model    string `json:"model,omitempty" jsonschema:"the model that was asked for"`
	Status   int    `json:"status,omitempty" jsonschema:"HTTP status of the last answer"`
	Tries    int    `json:"tries,omitempty" jsonschema:"how often it was sent"`
	Cost     *int64 `json:"cost,omitempty" jsonschema:"pico-dollars; not there where it is not known"`
}

// recording prices what was sent for a cassette.
func (a *app) recording(r script.Recorded, dry bool) recordingRow {
	row := recordingRow{Cassette: r.Name, Mode: string(r.Mode), Scripted: r.Scripted, Calls: []recordedRow{}}
	if dry {
		row.Open = fault.CodeOf(r.Err) == seam.CodeDryRun
	}
	if r.Err != nil && !row.Open {
		row.Error = string(fault.CodeOf(r.Err))
	}
	answers := openAnswers(r, dry)
	for _, s := range r.Sent {
		if s.Tries == 0 && !dry {
			continue // it never left
		}
		call := recordedRow{Line: s.Line + 1, Replaces: s.Replaces + 1, Lane: s.Lane, Method: s.Method, URL: s.URL, Model: s.Model, Status: s.Status, Tries: s.Tries}
		if cost, ok := a.costOf(s, answers); ok {
			call.Cost = &cost
			row.Cost += cost
		} else {
			row.Unknown++
		}
		row.Calls = append(row.Calls, call)
	}
	return row
}

// An answerBook is where the answers of a recording are, and what they cost.
type answerBook struct {
	prices ledger.PriceList
	refs   []string
	get    func(i int) (cassette.Episode, bool)
}

// openAnswers reads the cassette, or its journal where there is none yet.
func openAnswers(r script.Recorded, dry bool) answerBook {
	b := answerBook{get: func(int) (cassette.Episode, bool) { return cassette.Episode{}, false }}
	c, err := cassette.Open(r.File)
	if err == nil {
		prices := map[string]*port.Price{}
		if json.Unmarshal(c.Header().Prices, &prices) == nil {
			b.prices = ledger.NewPriceList(prices)
		}
		for ref := range prices {
			b.refs = append(b.refs, ref)
		}
		b.get = func(i int) (cassette.Episode, bool) {
			if i < 0 || i >= c.Len() {
				return cassette.Episode{}, false
			}
			e, err := c.Episode(i)
			return e, err == nil
		}
	}
	if r.Err == nil || dry {
		return b
	}
	if journal, err := cassette.Resume(r.File); err == nil {
		b.get = func(i int) (cassette.Episode, bool) {
			if i < 0 || i >= len(journal) {
				return cassette.Episode{}, false
			}
			return journal[i], true
		}
	}
	return b
}

// costOf is what a request cost, or would; a call without a model costs nothing that is
// known here, and neither does a request that got no answer.
func (a *app) costOf(s seam.Sent, b answerBook) (int64, bool) {
	if s.Model == "" {
		return 0, false
	}
	e, ok := b.get(s.Line)
	if !ok {
		return 0, s.Tries > 0 // it was sent, and nothing was answered that is billed
	}
	u := transcript.Read(&e).Usage
	if u == nil {
		return 0, e.Response.Status >= 400
	}
	usage := port.Usage{State: port.Exact, Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	for _, ref := range b.refs {
		if _, model, _ := strings.Cut(ref, "/"); model != s.Model {
			continue
		}
		if cost, known, err := b.prices.Cost(ref, usage); known && err == nil {
			return cost, true
		}
	}
	return a.catalogCost(s, usage)
}

// makers are the providers whose own address tells which catalogue they are in.
var makers = map[string]string{
	"api.anthropic.com": "anthropic", "api.openai.com": "openai", "generativelanguage.googleapis.com": "gemini",
	"openrouter.ai": "openrouter",
}

// catalogCost is what today's catalogue says, where the cassette says nothing.
func (a *app) catalogCost(s seam.Sent, u port.Usage) (int64, bool) {
	ref, price := a.catalogPrice(s)
	cost, known, err := ledger.NewPriceList(map[string]*port.Price{ref: price}).Cost(ref, u)
	return cost, known && err == nil
}

// catalogPrice is what a request's model costs today, by the address that it was sent to;
// nil where that is not known.
func (a *app) catalogPrice(s seam.Sent) (ref string, price *port.Price) {
	where, err := url.Parse(s.URL)
	if err != nil || makers[where.Host] == "" || s.Model == "" {
		return "", nil
	}
	ref = makers[where.Host] + "/" + s.Model
	info, err := a.catalog().Find(ref)
	if err != nil {
		return ref, nil
	}
	return ref, info.Price
}

// keepPrices puts the prices of what was recorded into the cassette, for a client that
// knows nothing of cassettes and so named none.
func (a *app) keepPrices(s *seam.Seam) error {
	for _, sent := range s.Sent() {
		ref, price := a.catalogPrice(sent)
		if price == nil {
			continue
		}
		if _, err := s.Price(ref, func() ([]byte, error) { return json.Marshal(price) }); err != nil {
			return err
		}
	}
	return nil
}

func (r recordResult) write(w io.Writer) {
	for _, row := range r.Recordings {
		fmt.Fprintf(w, "%s: %s", row.Cassette, count(len(row.Calls), "call"))
		if r.DryRun {
			fmt.Fprint(w, " would go out")
		}
		if len(row.Calls) > 0 {
			fmt.Fprintf(w, ", %s", row.price(r.DryRun))
		}
		fmt.Fprintln(w)
		if r.DryRun || row.Mode == string(seam.Fill) || row.Error != "" { // of a whole cassette, show tells
			for _, c := range row.Calls {
				fmt.Fprintf(w, "  %s\n", c.text(r.DryRun))
			}
		}
		if row.Open {
			fmt.Fprintln(w, "  … and what follows: it depends on the last answer")
		}
		if row.Error != "" {
			fmt.Fprintf(w, "  not kept: %s\n", row.Error)
			if !row.Scripted && len(row.Calls) > 0 {
				fmt.Fprintf(w, "  to go on: soundstage record %s --continue\n", row.Cassette)
			}
		}
	}
	if !r.DryRun {
		r.scenarioResult.write(w)
	}
}

// price is the sum in words.
func (r recordingRow) price(dry bool) string {
	paid := "paid"
	switch {
	case r.Scripted:
		paid = "saved"
	case dry:
		paid = "to pay"
	}
	switch known := len(r.Calls) - r.Unknown; {
	case known == 0:
		return "cost unknown"
	case r.Unknown > 0:
		return fmt.Sprintf("%s %s and %s of unknown cost", ledger.Format(r.Cost), paid, count(r.Unknown, "call"))
	}
	return fmt.Sprintf("%s %s", ledger.Format(r.Cost), paid)
}

func (r recordedRow) text(dry bool) string {
	var b strings.Builder
	switch {
	case r.Replaces > 0:
		fmt.Fprintf(&b, "episode %d anew: ", r.Replaces)
	case r.Line > 0:
		fmt.Fprintf(&b, "episode %d: ", r.Line)
	case dry:
		b.WriteString("not recorded: ")
	default:
		b.WriteString("not kept: ")
	}
	fmt.Fprintf(&b, "%s %s", r.Method, r.URL)
	if r.Status > 0 {
		fmt.Fprintf(&b, " → %d", r.Status)
	}
	if r.Tries > 1 {
		fmt.Fprintf(&b, ", asked %d times", r.Tries)
	}
	if r.Cost != nil {
		fmt.Fprintf(&b, ", %s", ledger.Format(*r.Cost))
	} else {
		b.WriteString(", cost unknown")
	}
	return b.String()
}
