package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/transcript"
	"github.com/soundstage-dev/soundstage/runtime/plain"
)

// The results of the commands that show episodes.
type (
	episodeRow struct {
		Line       int                    `json:"line" jsonschema:"1 is the first episode"`
		Key        string                 `json:"key" jsonschema:"what a request must hash to"`
		Kind       string                 `json:"kind" jsonschema:"http, mcp, exec or another door"`
		Lane       string                 `json:"lane,omitempty" jsonschema:"which agent spoke"`
		Origin     cassette.Origin        `json:"origin" jsonschema:"where the answer came from"`
		At         string                 `json:"at,omitempty" jsonschema:"date of recording"`
		Method     string                 `json:"method" jsonschema:"HTTP method"`
		URL        string                 `json:"url" jsonschema:"what was asked, redacted"`
		Model      string                 `json:"model,omitempty" jsonschema:"the model that was asked for"`
		Status     int                    `json:"status" jsonschema:"HTTP status"`
		Request    string                 `json:"request" jsonschema:"the request's body, clipped; whole with --raw"`
		Response   string                 `json:"response" jsonschema:"the response's body, clipped; whole with --raw"`
		Chunks     int                    `json:"chunks" jsonschema:"reads in which it came"`
		Duration   string                 `json:"duration" jsonschema:"from the request to the answer's end"`
		End        string                 `json:"end,omitempty" jsonschema:"cut, cancelled or error where it did not end well"`
		Cost       string                 `json:"cost,omitempty" jsonschema:"by the prices of then, where the model has one"`
		Transcript *transcript.Transcript `json:"transcript,omitempty" jsonschema:"a model call as a conversation"`
	}
	cassetteShow struct {
		cassetteRow
		List []episodeRow `json:"list" jsonschema:"the episodes, in recorded order"`
	}
)

// maxShown is how many characters of one text are shown.
const maxShown = 2000

func (a *app) cmdCassetteShow() *cobra.Command {
	var episode int
	var raw bool
	c := &cobra.Command{
		Use: "show NAME", Short: "Print a cassette as a conversation", Args: cobra.ExactArgs(1),
		Long: `Show prints turns, tool calls, timings and costs of each recorded call, whatever provider it
went to; what a call repeats of the one before it in its lane is left out. --episode prints
one call with all of it, and --raw the bodies as they were sent.`,
		Example: "  soundstage cassette show content/rename\n  soundstage cassette show content/rename --episode 2 --raw\n  soundstage cassette show ./elsewhere.yaml --json",
		RunE: func(_ *cobra.Command, args []string) error {
			return a.showCassette(args[0], episode, raw)
		},
	}
	c.Flags().IntVar(&episode, "episode", 0, "only this one, `n`, counted from 1")
	c.Flags().BoolVar(&raw, "raw", false, "print the bodies as they were sent")
	return c
}

func (a *app) showCassette(name string, episode int, raw bool) error {
	c, row, err := a.openCassette(name)
	if err == nil {
		err = row.sum(c)
	}
	if err != nil {
		return err
	}
	if episode < 0 || episode > c.Len() {
		return fault.New(fault.NotFound, "cassette.show", "cassette %q has no episode %d", name, episode).
			WithHint("it has %s; list them: soundstage cassette ls %s", count(c.Len(), "episode"), name)
	}
	clip := maxShown
	if raw || episode > 0 {
		clip = 0
	}
	out := cassetteShow{cassetteRow: row}
	if out.List, err = episodeRows(c, clip); err != nil {
		return err
	}
	if episode > 0 {
		out.List = out.List[episode-1 : episode]
	}
	prices, err := newPricer(c.Header())
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if !a.json && !raw {
		if err := transcript.Print(&text, c, transcript.PrintOptions{Episode: episode, Clip: clip, Cost: prices.show}); err != nil {
			return err
		}
	}
	return a.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s, %s, rules %s\n", row.Name, row.Origin, count(row.Episodes, "episode"), strings.Join(row.Rules, " "))
		_, _ = text.WriteTo(w) // a strings.Builder
		for _, r := range out.List {
			if raw {
				fmt.Fprintf(w, "\n%d  %s %s → %d\n%s\n\n%s\n", r.Line, r.Method, r.URL, r.Status, indent([]byte(r.Request)), indent([]byte(r.Response)))
			}
		}
	})
}

// episodeRows are all episodes; bodies are clipped unless clip is 0.
func episodeRows(c *cassette.Cassette, clip int) ([]episodeRow, error) {
	prices, err := newPricer(c.Header())
	if err != nil {
		return nil, err
	}
	out := make([]episodeRow, c.Len())
	for i := range out {
		e, err := c.Episode(i)
		if err != nil {
			return nil, err
		}
		t := transcript.Read(&e)
		out[i] = showEpisode(i+1, e, clip)
		if t.Format != transcript.None {
			out[i].Transcript, out[i].Cost = &t, prices.show(&e, t.Usage)
		}
	}
	return out, nil
}

func showEpisode(line int, e cassette.Episode, clip int) episodeRow {
	u := e.Request.URL
	if p, err := url.Parse(u); err == nil {
		u = p.Redacted()
	}
	return episodeRow{
		Line: line, Key: e.Key, Kind: e.Kind, Lane: e.Lane, Origin: e.Origin, At: e.At, Method: e.Request.Method, URL: u, Model: e.Model,
		Status: e.Response.Status, Request: body(e.Request.Body, clip), Response: body(e.Response.Body, clip),
		Chunks: max(1, len(e.Response.Chunks)), Duration: e.Response.Duration.String(), End: e.Response.End,
	}
}

func body(b []byte, clip int) string {
	switch {
	case !utf8.Valid(b):
		return fmt.Sprintf("(%d bytes, not text)", len(b))
	case clip == 0:
		return string(b)
	}
	return plain.Clip(string(b), clip)
}
