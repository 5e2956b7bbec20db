package cli

import (
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/transcript"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
)

// The result of cassette stats.
type (
	statsRow struct {
		Name     string `json:"name" jsonschema:"of the model or lane"`
		Episodes int    `json:"episodes" jsonschema:"recorded calls"`
		Bytes    int64  `json:"bytes" jsonschema:"of their bodies"`
		Tokens   tokens `json:"tokens" jsonschema:"as the providers reported them"`
		Cost     string `json:"cost" jsonschema:"by the prices of then, of the calls that have one"`
		Unpriced int    `json:"unpriced,omitempty" jsonschema:"calls to models whose price is not known"`

		pico int64
	}
	cassetteStats struct {
		Cassettes  int        `json:"cassettes" jsonschema:"files"`
		Bytes      int64      `json:"bytes" jsonschema:"of the files"`
		Compressed int64      `json:"compressed" jsonschema:"bytes that gzip would make of them"`
		Repeated   int64      `json:"repeated" jsonschema:"bytes of bodies that occur again in their own file: what dedupe looks at"`
		Duplicates int        `json:"duplicates" jsonschema:"episodes with the key and the answer of one before them"`
		All        statsRow   `json:"all" jsonschema:"everything"`
		Models     []statsRow `json:"models" jsonschema:"by model; \"\" is no model call"`
		Lanes      []statsRow `json:"lanes" jsonschema:"by lane; \"\" is the main agent"`
	}
)

func (a *app) cmdCassetteStats() *cobra.Command {
	return &cobra.Command{
		Use: "stats [NAME…]", Short: "Sum up cassettes by model and lane (default: all)",
		Long: `Stats sums calls, bytes, tokens and costs, and says what the files hold twice: what dedupe
would move out, and what gzip would make of them (as a version control system stores them).`,
		Example: "  soundstage cassette stats\n  soundstage cassette stats content/rename --json",
		RunE: func(_ *cobra.Command, names []string) error {
			names, err := a.named(names)
			if err != nil {
				return err
			}
			s := counter{models: map[string]*statsRow{}, lanes: map[string]*statsRow{}}
			s.gzip, _ = gzip.NewWriterLevel(&s.compressed, gzip.BestSpeed) // a level that there is
			for _, name := range names {
				c, row, err := a.openCassette(name)
				if err != nil {
					return err
				}
				s.out.Bytes += row.Bytes
				if err := s.add(c); err != nil {
					return err
				}
			}
			if err := s.gzip.Close(); err != nil {
				return err
			}
			out := s.result(len(names))
			return a.print(out, func(w io.Writer) { writeStats(w, out) })
		},
	}
}

// A counter sums up cassettes.
type counter struct {
	out           cassetteStats
	models, lanes map[string]*statsRow
	compressed    length
	gzip          *gzip.Writer
}

// length is a writer that only counts.
type length int64

func (n *length) Write(p []byte) (int, error) {
	*n += length(len(p))
	return len(p), nil
}

func (s *counter) add(c *cassette.Cassette) error {
	prices, err := newPricer(c.Header())
	if err != nil {
		return err
	}
	bodies, answers := map[[sha256.Size]byte]bool{}, map[string]bool{}
	for i := range c.Len() {
		e, err := c.Episode(i)
		if err != nil {
			return err
		}
		for _, b := range [][]byte{e.Request.Body, e.Response.Body} {
			h := sha256.Sum256(b)
			if bodies[h] {
				s.out.Repeated += int64(len(b))
			}
			bodies[h] = true
			if _, err := s.gzip.Write(b); err != nil {
				return err
			}
		}
		answer := fmt.Sprintf("%s %x", e.Key, sha256.Sum256(e.Response.Body))
		if answers[answer] {
			s.out.Duplicates++
		}
		answers[answer] = true
		u := transcript.Read(&e).Usage
		pico, known := prices.cost(e.Model, u)
		for _, r := range []*statsRow{&s.out.All, row(s.models, e.Model), row(s.lanes, e.Lane)} {
			r.Episodes++
			r.Bytes += int64(len(e.Request.Body) + len(e.Response.Body))
			r.Tokens.add(u)
			r.pico += pico
			if u != nil && !known {
				r.Unpriced++
			}
		}
	}
	return nil
}

func row(rows map[string]*statsRow, name string) *statsRow {
	if rows[name] == nil {
		rows[name] = &statsRow{Name: name}
	}
	return rows[name]
}

func (s *counter) result(cassettes int) cassetteStats {
	s.out.Cassettes, s.out.Compressed = cassettes, int64(s.compressed)
	s.out.All.Name, s.out.All.Cost = "all", ledger.Format(s.out.All.pico)
	s.out.Models, s.out.Lanes = sorted(s.models), sorted(s.lanes)
	return s.out
}

func sorted(rows map[string]*statsRow) []statsRow {
	out := []statsRow{}
	for r := range maps.Values(rows) {
		r.Cost = ledger.Format(r.pico)
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b statsRow) int {
		return cmp.Or(cmp.Compare(b.Episodes, a.Episodes), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func writeStats(w io.Writer, out cassetteStats) {
	fmt.Fprintf(w, "%s, %d bytes, %d as gzip\n", count(out.Cassettes, "cassette"), out.Bytes, out.Compressed)
	fmt.Fprintf(w, "repeated within a file: %d bytes of bodies, %s\n\n", out.Repeated, count(out.Duplicates, "whole episode"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MODEL\tEPISODES\tBYTES\tIN\tOUT\tCACHED\tCOST")
	for _, r := range out.Models {
		writeStatsRow(t, cmp.Or(r.Name, "(none)"), r)
	}
	writeStatsRow(t, "all", out.All)
	fmt.Fprintln(t, "\nLANE\tEPISODES\tBYTES\tIN\tOUT\tCACHED\tCOST")
	for _, r := range out.Lanes {
		writeStatsRow(t, cmp.Or(r.Name, "(main)"), r)
	}
	_ = t.Flush() // to a writer that was checked when it was opened
}

func writeStatsRow(w io.Writer, name string, r statsRow) {
	cost := r.Cost
	if r.Unpriced > 0 {
		cost += fmt.Sprintf(" and %s without a price", count(r.Unpriced, "call"))
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%s\n", name, r.Episodes, r.Bytes, r.Tokens.Input, r.Tokens.Output, r.Tokens.CacheRead, cost)
}
