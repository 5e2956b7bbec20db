package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/adapters/agentcli"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/session"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// codeUnclean says that doctor found something wrong.
const codeUnclean fault.Code = "DOCTOR_UNCLEAN"

// The results of doctor.
type (
	check struct {
		Name   string `json:"name" jsonschema:"what was looked at"`
		OK     bool   `json:"ok" jsonschema:"whether it is as it should be"`
		Detail string `json:"detail" jsonschema:"what was found"`
		Hint   string `json:"hint,omitempty" jsonschema:"the next step where it is not"`
	}
	trustRow struct {
		Class     trust.Class   `json:"class" jsonschema:"what a tool can do"`
		Guarded   trust.Verdict `json:"guarded" jsonschema:"run, ask or deny"`
		Autopilot trust.Verdict `json:"autopilot" jsonschema:"run, ask or deny"`
		Full      trust.Verdict `json:"full" jsonschema:"run, ask or deny"`
	}
	doctorResult struct {
		Checks []check        `json:"checks" jsonschema:"in the order in which they were made"`
		Trust  []trustRow     `json:"trust" jsonschema:"class by mode; a tool without a class is denied"`
		Audit  *session.Audit `json:"audit,omitempty" jsonschema:"with --rebuild: ledger and receipts, from the traces and in the store"`
	}
)

func (a *app) cmdDoctor() *cobra.Command {
	var rebuild bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check this studio and machine, and print the trust table",
		Long: `Doctor checks the config, the store, the model and its key, the sessions and the tools'
classes, and prints who may do what. With --rebuild it derives ledger and receipts from the
traces and proves them equal to the store. It changes nothing.`,
		Example: "  soundstage doctor\n  soundstage doctor --rebuild --json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), rebuild) },
	}
	c.Flags().BoolVar(&rebuild, "rebuild", false, "compare the store with what the traces say")
	return c
}

func (a *app) doctor(ctx context.Context, rebuild bool) error {
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer h.close()
	out := doctorResult{Checks: []check{
		{Name: "config", OK: true, Detail: fmt.Sprintf("%s, %s gate", configName, cmp.Or(h.cfg.Gate, string(trust.Guarded)))}, h.checkStore(ctx), a.checkModel(h), h.checkSessions(ctx), h.checkTrust(),
	}}
	for _, class := range trust.Classes() {
		out.Trust = append(out.Trust, trustRow{
			class, trust.Cell(class, trust.Guarded), trust.Cell(class, trust.Autopilot), trust.Cell(class, trust.Full),
		})
	}
	if rebuild {
		audit, err := session.Compare(ctx, h.sessions(), h.store)
		if err != nil {
			out.Checks = append(out.Checks, verdict("rebuild", "", err))
		} else {
			out.Audit = &audit
			out.Checks = append(out.Checks, checkAudit(audit))
		}
	}
	if err := a.print(out, func(w io.Writer) { writeDoctor(w, out) }); err != nil {
		return err
	}
	for _, c := range out.Checks {
		if !c.OK {
			return fault.New(codeUnclean, "doctor", "%s: %s", c.Name, c.Detail).WithHint("%s", c.Hint)
		}
	}
	return nil
}

// verdict makes a check of an error.
func verdict(name, detail string, err error) check {
	if err != nil {
		return check{Name: name, Detail: err.Error(), Hint: fault.HintOf(err)}
	}
	return check{Name: name, OK: true, Detail: detail}
}

func (h *house) checkStore(ctx context.Context) check {
	n := 0
	for s, err := range store.All(ctx, h.store, store.Query{}) {
		if err != nil {
			return verdict("store", "", err)
		}
		p, err := h.store.Get(ctx, s.Ref, 0)
		if err == nil {
			err = h.kinds.CheckPiece(ctx, p)
		}
		if err != nil {
			return verdict("store", "", fault.Wrap(err, fault.CodeOf(err), "doctor", "%s", s.Ref))
		}
		n++
	}
	return verdict("store", count(n, "piece")+", each read whole", nil)
}

// checkModel never fails the doctor for a missing key: replay needs none.
func (a *app) checkModel(h *house) check {
	if agentcli.Is(h.cfg.Model) {
		return verdict("model", h.cfg.Model+", by its own program and account", nil)
	}
	if _, err := a.catalog().Find(h.cfg.Model); err != nil {
		return verdict("model", "", err)
	}
	name, err := a.catalog().KeyName(h.cfg.Model)
	if err != nil {
		return verdict("model", "", err)
	}
	detail := h.cfg.Model
	if name != "" && a.doors.Env[name] == "" {
		detail += ", " + name + " is not set: replay only"
	}
	return verdict("model", detail, nil)
}

func (h *house) checkSessions(ctx context.Context) check {
	list, err := session.List(ctx, h.sessions())
	for _, s := range list {
		if s.Damage != "" && err == nil {
			err = fault.New(fault.Internal, "", "session %s: %s", s.ID, s.Damage).
				WithHint("restore the file from a backup, or move it away: pieces and drafts are in the store")
		}
	}
	return verdict("sessions", count(len(list), "session")+", each read whole", err)
}

func (h *house) checkTrust() check {
	if missing := gate.Unclassified(h.registry, h.table); len(missing) > 0 {
		return check{Name: "trust", Detail: fmt.Sprintf("tools without a row: %v", missing), Hint: "add rows to runtime/trust"}
	}
	return verdict("trust", count(h.registry.Len(), "tool")+", each classified", nil)
}

func checkAudit(audit session.Audit) check {
	c := check{Name: "rebuild", OK: audit.Clean(), Detail: fmt.Sprintf("%s, %s, %s from the traces equal the store",
		count(audit.Sessions, "session"), count(audit.Rows, "ledger row"), count(audit.Receipts, "receipt"))}
	if n := len(audit.Differences); n > 0 {
		d := audit.Differences[0]
		c.Detail = fmt.Sprintf("%s, the first: %s is %q in the trace and %q in the store", count(n, "difference"), d.What, d.Trace, d.Store)
		if c.OK {
			c.Detail += "; a crash explains all of them"
		} else {
			c.Hint = "see all of them with --json"
		}
	}
	return c
}

func writeDoctor(w io.Writer, out doctorResult) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range out.Checks {
		mark := "ok"
		if !c.OK {
			mark = "WRONG"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", mark, c.Name, c.Detail)
	}
	fmt.Fprintln(t, "\nCLASS\tGUARDED\tAUTOPILOT\tFULL")
	for _, r := range out.Trust {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Class, r.Guarded, r.Autopilot, r.Full)
	}
	_ = t.Flush() // to a writer that was checked when it was opened
}
