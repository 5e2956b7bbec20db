package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/cassette/diff"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/transcript"
	"github.com/soundstage-dev/soundstage/runtime/plain"
)

// codeDiffer says that two cassettes do not mean the same.
const codeDiffer fault.Code = "CASSETTE_DIFFERS"

// codeUnread says that a cassette could not be read for a reason of the machine's.
const codeUnread fault.Code = "CASSETTE_UNREAD"

// The result of cassette diff.
type (
	diffPair struct {
		Old     int           `json:"old" jsonschema:"the episode of A, counted from 1; 0: A has none like it"`
		New     int           `json:"new" jsonschema:"the episode of B, counted from 1; 0: B has none like it"`
		Changes []diff.Change `json:"changes" jsonschema:"what differs in it"`
	}
	cassetteDiff struct {
		Equal  bool          `json:"equal" jsonschema:"both mean the same"`
		Same   int           `json:"same" jsonschema:"episodes that mean the same"`
		Header []diff.Change `json:"header" jsonschema:"what differs in the header"`
		Pairs  []diffPair    `json:"pairs" jsonschema:"episodes that differ"`
	}
)

func (a *app) cmdCassetteDiff() *cobra.Command {
	return &cobra.Command{
		Use: "diff A B", Short: "Compare two cassettes by meaning", Args: cobra.ExactArgs(2),
		Long: `Diff says which message, which tool's schema or which argument is another one. Ids, signatures,
timings and token counts that providers make up anew are no difference.

It exits with 0 where both mean the same, 1 where they differ, and more on an error.`,
		Example: "  soundstage cassette diff content/rename ./new.yaml\n  soundstage cassette diff old.yaml new.yaml --json",
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.compareCassettes(args[0], args[1])
			if fault.CodeOf(err) == fault.Internal {
				err = fault.Wrap(err, codeUnread, "cassette.diff", "read")
			}
			if err != nil {
				return err
			}
			out := cassetteDiff{Equal: r.Equal(), Same: r.Same, Header: append([]diff.Change{}, r.Header...), Pairs: []diffPair{}}
			for _, p := range r.Pairs {
				out.Pairs = append(out.Pairs, diffPair{p.Old + 1, p.New + 1, p.Changes})
			}
			if err := a.print(out, func(w io.Writer) { writeDiff(w, out) }); err != nil {
				return err
			}
			if !out.Equal {
				return fault.New(codeDiffer, "cassette.diff", "%q and %q differ in %s", args[0], args[1], count(len(out.Pairs), "episode")).
					WithHint("if that is meant, keep the newer one; to see all of a call: soundstage cassette show NAME --episode N")
			}
			return nil
		},
	}
}

func (a *app) compareCassettes(older, newer string) (diff.Report, error) {
	x, _, err := a.openCassette(older)
	if err != nil {
		return diff.Report{}, err
	}
	y, _, err := a.openCassette(newer)
	if err != nil {
		return diff.Report{}, err
	}
	return diff.Cassettes(x, y)
}

func writeDiff(w io.Writer, out cassetteDiff) {
	for _, c := range out.Header {
		fmt.Fprintf(w, "%s\n", c.Text())
	}
	for _, p := range out.Pairs {
		switch {
		case p.Old == p.New:
			fmt.Fprintf(w, "episode %d\n", p.New)
		case p.Old == 0:
			fmt.Fprintf(w, "episode %d, only in the second\n", p.New)
		case p.New == 0:
			fmt.Fprintf(w, "episode %d, only in the first\n", p.Old)
		default:
			fmt.Fprintf(w, "episode %d, before %d\n", p.New, p.Old)
		}
		for _, c := range p.Changes {
			fmt.Fprintf(w, "  %s\n", c.Text())
		}
	}
	fmt.Fprintf(w, "%s the same, %d different\n", count(out.Same, "episode"), len(out.Pairs))
}

func (a *app) cmdCassetteTextconv() *cobra.Command {
	return &cobra.Command{
		Use: "textconv FILE", Short: "Print a cassette for git diff", Args: cobra.ExactArgs(1),
		Long: `Textconv prints a cassette as text that reads well in a diff: the same bytes for the same
calls, without hashes of bytes and without timings. A file that is no whole cassette, as in
a merge, is printed as it is under a line that says so, because git shows nothing at all when
this fails. docs/howto/review-cassettes.md says how git is told to use it.`,
		Example: "  soundstage cassette textconv cassettes/content/rename.yaml\n  git config diff.soundstage.textconv \"soundstage cassette textconv\"",
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := a.textconv(a.path(args[0]))
			if err != nil {
				return err
			}
			if a.json {
				return a.print(textconvResult{File: args[0], Text: text}, nil)
			}
			return a.put(text)
		},
	}
}

// textconvResult is what textconv prints with --json.
type textconvResult struct {
	File string `json:"file" jsonschema:"as it was named"`
	Text string `json:"text" jsonschema:"for git diff"`
}

func (a *app) textconv(file string) (string, error) {
	var b strings.Builder
	w := bufio.NewWriter(&b)
	c, err := cassette.OpenAny(file)
	if err == nil {
		h := c.Header()
		fmt.Fprintf(w, "format %d, keys %d, origin %s\nrules %s\n", h.Format, h.KeyVersion, h.Origin, strings.Join(h.Rules, " "))
		if len(h.Prices) > 0 {
			fmt.Fprintf(w, "prices %s\n", h.Prices)
		}
		err = transcript.Print(w, c, transcript.PrintOptions{Stable: true})
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		return plain.Text(b.String()), nil // git hands it to a terminal
	}
	if info, serr := os.Stat(file); serr == nil && !info.Mode().IsRegular() {
		return "", err // a named pipe would be waited for
	}
	data, readErr := os.ReadFile(file)
	if readErr != nil {
		return "", fault.Wrap(readErr, fault.NotFound, "cassette.textconv", "file %q", file).WithHint("name a cassette's file")
	}
	return fmt.Sprintf("# not shown as a conversation: %s\n%s", fault.CodeOf(err), data), nil
}
