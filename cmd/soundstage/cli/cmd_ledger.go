package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
)

// The results of ledger. Amounts are pico-dollars.
type (
	ledgerGroup struct {
		Name      string `json:"name" jsonschema:"the session, the day in UTC, or the model"`
		Requests  int64  `json:"requests" jsonschema:"model requests"`
		Spent     int64  `json:"spent" jsonschema:"paid, in pico-dollars"`
		Saved     int64  `json:"saved" jsonschema:"answered by a recording or a script, and not paid"`
		Reserved  int64  `json:"reserved" jsonschema:"set aside for requests that are under way"`
		Unpriced  int64  `json:"unpriced" jsonschema:"requests whose price is not known: they are in no sum"`
		TokensIn  int64  `json:"tokens_in" jsonschema:"tokens sent, those of the cache included"`
		TokensOut int64  `json:"tokens_out" jsonschema:"tokens that came back"`
	}
	ledgerCap struct {
		Scope string `json:"scope" jsonschema:"day or studio"`
		Limit int64  `json:"limit" jsonschema:"the most that may be spent"`
		Spent int64  `json:"spent" jsonschema:"spent or set aside under it"`
	}
	ledgerResult struct {
		By     string        `json:"by" jsonschema:"session, day or model"`
		Groups []ledgerGroup `json:"groups" jsonschema:"in order of name"`
		Total  ledgerGroup   `json:"total" jsonschema:"all groups"`
		Caps   []ledgerCap   `json:"caps" jsonschema:"the studio's caps for today and for all time"`
	}
)

func (a *app) cmdLedger() *cobra.Command {
	var by string
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Show what model calls cost: spent, saved and set aside",
		Long: `Ledger adds up the studio's rows. Spent was paid. Saved is what the same answers would have
cost: they came from a recording or a script. Reserved is set aside for requests under way.`,
		Example: "  soundstage ledger\n  soundstage ledger --by model\n  soundstage ledger --by day --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.ledger(c.Context(), by) },
	}
	c.Flags().StringVar(&by, "by", ledger.BySession, "a row for each `unit`: session, day or model")
	return c
}

func (a *app) ledger(ctx context.Context, by string) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	rows, err := h.store.ListRows(ctx, "")
	if err != nil {
		return err
	}
	groups, err := ledger.Tally(rows, by)
	if err != nil {
		return fault.Wrap(err, fault.CodeOf(err), "ledger", "--by").WithHint("%s", fault.HintOf(err))
	}
	out := ledgerResult{By: by, Groups: []ledgerGroup{}, Total: shownGroup(ledger.Total(groups)), Caps: []ledgerCap{}}
	for _, g := range groups {
		out.Groups = append(out.Groups, shownGroup(g))
	}
	caps, err := h.caps("")
	if err != nil {
		return err
	}
	for _, c := range caps {
		if c.Scope == ledger.ScopeSession { // each session has its own
			continue
		}
		sum, err := h.store.SumRows(ctx, c)
		if err != nil {
			return err
		}
		out.Caps = append(out.Caps, ledgerCap{c.Scope, c.Limit, sum.Cost + sum.Open})
	}
	return a.print(out, func(w io.Writer) { writeLedger(w, out) })
}

func shownGroup(g ledger.Group) ledgerGroup {
	return ledgerGroup{g.Name, g.Requests, g.Spent, g.Saved, g.Reserved, g.Unpriced, g.In, g.Out}
}

func writeLedger(w io.Writer, out ledgerResult) {
	if len(out.Groups) == 0 {
		fmt.Fprintln(w, "no model was asked yet")
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\trequests\tspent\tsaved\treserved\ttokens in\tout\n", out.By)
	groups := out.Groups
	if len(groups) > 1 {
		groups = append(groups[:len(groups):len(groups)], out.Total)
	}
	for _, g := range groups {
		note := ""
		if g.Unpriced > 0 {
			note = fmt.Sprintf("\t%s without a price", count(int(g.Unpriced), "request"))
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%d\t%d%s\n", g.Name, g.Requests, ledger.Format(g.Spent), ledger.Format(g.Saved),
			ledger.Format(g.Reserved), g.TokensIn, g.TokensOut, note)
	}
	_ = t.Flush() // into memory
	for _, c := range out.Caps {
		fmt.Fprintf(w, "cap of the %s: %s of %s\n", c.Scope, ledger.Format(c.Spent), ledger.Format(c.Limit))
	}
}
