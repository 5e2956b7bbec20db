package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/transcript"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

// tokens are summed usage.
type tokens struct {
	Input      int64 `json:"input" jsonschema:"not from or to the cache"`
	Output     int64 `json:"output" jsonschema:"that models wrote"`
	CacheRead  int64 `json:"cache_read,omitempty" jsonschema:"from the cache"`
	CacheWrite int64 `json:"cache_write,omitempty" jsonschema:"to the cache"`
}

func (t *tokens) add(u *transcript.Usage) {
	if u != nil {
		t.Input, t.Output = t.Input+u.Input, t.Output+u.Output
		t.CacheRead, t.CacheWrite = t.CacheRead+u.CacheRead, t.CacheWrite+u.CacheWrite
	}
}

// A pricer knows what a cassette's models cost when it was recorded.
type pricer struct{ prices map[string]*model.Price }

func newPricer(h cassette.Header) (pricer, error) {
	prices, err := model.DecodePrices(h.Prices)
	return pricer{prices}, err
}

// cost is what a call cost in pico-dollars. The price list goes by provider and model,
// an episode by model; two providers that differ in price leave it unknown.
func (p pricer) cost(name string, u *transcript.Usage) (pico int64, known bool) {
	if u == nil {
		return 0, false
	}
	var price *model.Price
	for ref, pr := range p.prices {
		if pr == nil || !strings.HasSuffix(ref, "/"+name) {
			continue
		}
		if price != nil && *price != *pr {
			return 0, false
		}
		price = pr
	}
	if price == nil || name == "" {
		return 0, false
	}
	return price.Cost(model.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}), true
}

// show is what an episode cost, for people.
func (p pricer) show(e *cassette.Episode, u *transcript.Usage) string {
	if pico, ok := p.cost(e.Model, u); ok {
		return ledger.Format(pico)
	}
	return ""
}

// sum fills in what only the episodes tell.
func (r *cassetteRow) sum(c *cassette.Cassette) error {
	prices, err := newPricer(c.Header())
	if err != nil {
		return err
	}
	var pico int64
	priced := true
	for i := range c.Len() {
		e, err := c.Episode(i)
		if err != nil {
			return err
		}
		if e.Model != "" && !slices.Contains(r.Models, e.Model) {
			r.Models = append(r.Models, e.Model)
		}
		if e.Lane != "" && !slices.Contains(r.Lanes, e.Lane) {
			r.Lanes = append(r.Lanes, e.Lane)
		}
		if e.At != "" && (r.From == "" || e.At < r.From) {
			r.From = e.At
		}
		r.To = max(r.To, e.At)
		u := transcript.Read(&e).Usage
		r.Tokens.add(u)
		cost, known := prices.cost(e.Model, u)
		pico += cost
		priced = priced && (known || u == nil)
	}
	slices.Sort(r.Models)
	slices.Sort(r.Lanes)
	if priced && pico > 0 {
		r.Cost = ledger.Format(pico)
	}
	return nil
}

// age is how long ago a date was, in days; "" where there is none.
func (a *app) age(date string) string {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return ""
	}
	return count(max(0, int(a.doors.Clock.Now().Sub(at)/(24*time.Hour))), "day")
}

func (a *app) cmdCassetteLs() *cobra.Command {
	return &cobra.Command{
		Use: "ls [NAME]", Short: "List the cassettes below " + cassettesDir + ", or the episodes of one", Args: cobra.MaximumNArgs(1),
		Example: "  soundstage cassette ls\n  soundstage cassette ls content/rename --json",
		RunE: func(_ *cobra.Command, args []string) error {
			names, err := a.named(args)
			if err != nil {
				return err
			}
			out := cassetteList{Cassettes: []cassetteRow{}}
			for _, name := range names {
				c, row, err := a.openCassette(name)
				if err == nil {
					err = row.sum(c)
				}
				if err != nil {
					return err
				}
				if len(args) > 0 {
					if out.Episodes, err = episodeRows(c, 0); err != nil {
						return err
					}
				}
				out.Cassettes = append(out.Cassettes, row)
			}
			return a.print(out, func(w io.Writer) { a.writeList(w, out) })
		},
	}
}

func (a *app) writeList(w io.Writer, out cassetteList) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range out.Cassettes {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d bytes\t%s\t%s\t%s\n", r.Name, r.Origin, count(r.Episodes, "episode"), r.Bytes,
			a.age(r.From), r.Cost, strings.Join(r.Models, " "))
	}
	_ = t.Flush() // to a writer that was checked when it was opened
	if len(out.Cassettes) == 0 {
		fmt.Fprintf(w, "no cassettes below %s\n", cassettesDir)
	}
	for _, e := range out.Episodes {
		u := "-"
		if e.Transcript != nil && e.Transcript.Usage != nil {
			u = fmt.Sprintf("%d→%d", e.Transcript.Usage.Input, e.Transcript.Usage.Output)
		}
		fmt.Fprintf(t, "%d\t%.12s\t%s\t%d\t%s %s\t%s\t%s\t%s\t%s\n", e.Line, e.Key, e.Lane, e.Status, e.Method, e.URL, e.Model, u, e.Cost, e.At)
	}
	_ = t.Flush()
}
