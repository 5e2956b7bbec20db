package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/soundstage-dev/soundstage/adapters/clientfile"
	"github.com/soundstage-dev/soundstage/adapters/mcp"
	programs "github.com/soundstage-dev/soundstage/adapters/process"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// codeMCPFindings says that a client would stumble over what the server lists.
const codeMCPFindings fault.Code = "DOCTOR_MCP"

// estimator is how tokens are told from bytes. Each provider has a tokenizer of its own,
// and none is here.
const estimator = "bytes of the list as JSON, divided by 4; providers count otherwise"

// What clients are known to bound. Beyond them they drop, cut or warn.
const (
	longestName        = 64     // of a tool, with what the client puts before it
	longestDescription = 2048   // characters of a tool's description, and of instructions
	mostTools          = 128    // in one request, of some providers
	manyTokens         = 25_000 // Claude Code warns there
)

// The results of mcp doctor.
type (
	mcpDoctor struct {
		Server       mcpServer    `json:"server" jsonschema:"what it says of itself"`
		Instructions int          `json:"instructions" jsonschema:"bytes of the instructions"`
		InProcess    float64      `json:"in_process_ms" jsonschema:"milliseconds from the start to the list of tools, within this program"`
		Spawned      float64      `json:"spawned_ms,omitempty" jsonschema:"the same for a new process; left out where none was started"`
		NotSpawned   string       `json:"not_spawned,omitempty" jsonschema:"why none was started"`
		Estimator    string       `json:"estimator" jsonschema:"how tokens were estimated"`
		Belts        []mcpBelt    `json:"belts" jsonschema:"what each belt costs a client"`
		Findings     []mcpFinding `json:"findings" jsonschema:"what a client would stumble over; none is good"`
		Notes        []string     `json:"notes" jsonschema:"what clients do that is no fault"`
		Clients      []mcpClient  `json:"clients" jsonschema:"agents and their entry for this server"`
		Theirs       []mcpTheirs  `json:"theirs,omitempty" jsonschema:"servers of other people that turns here have, with --servers"`
	}
	mcpServer struct {
		Name     string `json:"name" jsonschema:"its name"`
		Version  string `json:"version" jsonschema:"its version"`
		Revision string `json:"revision" jsonschema:"the revision of MCP that was agreed on"`
	}
	mcpBelt struct {
		Flags  string `json:"flags" jsonschema:"of mcp"`
		Tools  int    `json:"tools" jsonschema:"listed"`
		Bytes  int    `json:"bytes" jsonschema:"of all tools as they are sent"`
		Tokens int    `json:"tokens" jsonschema:"estimated"`
	}
	mcpFinding struct {
		Tool    string `json:"tool" jsonschema:"the tool"`
		Part    string `json:"part" jsonschema:"input, output, name or description"`
		Finding string `json:"finding" jsonschema:"what is wrong, and for whom"`
	}
	mcpClient struct {
		Client  string   `json:"client" jsonschema:"the agent"`
		Scope   string   `json:"scope" jsonschema:"user or project"`
		File    string   `json:"file" jsonschema:"its configuration"`
		State   string   `json:"state" jsonschema:"absent (no file), none (no entry), installed, taken (another server has the name) or unreadable"`
		Command []string `json:"command,omitempty" jsonschema:"what the entry starts"`
		Detail  string   `json:"detail,omitempty" jsonschema:"why it is unreadable"`
	}
)

func (a *app) cmdMCPDoctor() *cobra.Command {
	var name, program string
	var others bool
	c := &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "Say what a client would see of the server",
		Long: `Doctor starts the server as a client does, within this program and as a process, and says how
long the list of tools takes, what it costs in each belt, which schemas, names and texts some
client would stumble over, and which agents have an entry for it (under the name soundstage).

Tokens are an estimate: ` + estimator + `.`,
		Example: `  soundstage mcp doctor
  soundstage mcp doctor ~/studio --json
  soundstage mcp doctor --servers`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.studio = args[0]
			}
			return a.mcpDoctor(c.Context(), name, program, others)
		},
	}
	c.Flags().StringVar(&name, "name", "soundstage", "what clients call the server")
	c.Flags().BoolVar(&others, "servers", false, "also start the servers of other people that turns here have, and say what is odd about their tools")
	c.Flags().StringVar(&program, "command", "", "the `program` to start as a process (default: this one)")
	return c
}

// doctorBelts are the postures that are measured; the first is the one that is judged.
func doctorBelts() []string {
	return []string{"--belt=direct", "--belt=direct --read-only", "--belt=full"}
}

func (a *app) mcpDoctor(ctx context.Context, name, program string, others bool) error {
	out := mcpDoctor{Estimator: estimator, Findings: []mcpFinding{}, Notes: []string{}, Clients: []mcpClient{}}
	for i, flags := range doctorBelts() {
		start := a.doors.Clock.Now()
		var took time.Duration
		err := a.attached(ctx, strings.Fields(flags), func(c *mcp.Attached) error {
			tools, err := c.Tools(ctx)
			took = a.doors.Clock.Now().Sub(start)
			if err != nil {
				return err
			}
			out.Belts = append(out.Belts, costOf(flags, tools))
			if i == 0 {
				out.InProcess, out.Instructions = milliseconds(took), len(c.Server.Instructions)
				out.Server = mcpServer{c.Server.Name, c.Server.Version, c.Server.Revision}
				out.Findings = append(out.Findings, findings(name, c.Server.Instructions, tools)...)
			}
			if i == len(doctorBelts())-1 {
				out.Findings = append(out.Findings, beyond(out.Findings, findings(name, c.Server.Instructions, tools))...)
				out.Notes = notes(name, tools)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := a.spawned(ctx, program, &out); err != nil {
		return err
	}
	out.Clients = a.clientStates(name)
	if others {
		var err error
		if out.Theirs, err = a.theirs(ctx); err != nil {
			return err
		}
	}
	if err := a.print(out, func(w io.Writer) { writeMCPDoctor(w, out) }); err != nil {
		return err
	}
	if len(out.Findings) > 0 {
		f := out.Findings[0]
		return fault.New(codeMCPFindings, "mcp.doctor", "%s, the first: %s: %s: %s", count(len(out.Findings), "finding"), f.Tool, f.Part, f.Finding)
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func costOf(flags string, tools []mcp.Listed) mcpBelt {
	b := mcpBelt{Flags: flags, Tools: len(tools)}
	for _, t := range tools {
		b.Bytes += t.Bytes
	}
	b.Tokens = (b.Bytes + 3) / 4
	return b
}

// beyond are the findings of more that are not among known.
func beyond(known, more []mcpFinding) (out []mcpFinding) {
	have := map[mcpFinding]bool{}
	for _, f := range known {
		have[f] = true
	}
	for _, f := range more {
		if !have[f] {
			out = append(out, f)
		}
	}
	return out
}

// findings are what some client would drop, cut or refuse.
func findings(name, instructions string, tools []mcp.Listed) (out []mcpFinding) {
	if n := len([]rune(instructions)); n > longestDescription {
		out = append(out, mcpFinding{"(server)", "description", fmt.Sprintf("the instructions have %d characters, and clients cut them at %d", n, longestDescription)})
	}
	for _, t := range tools {
		for _, f := range tool.Lint(t.InputSchema) {
			out = append(out, mcpFinding{t.Name, "input", f})
		}
		if t.OutputSchema != nil {
			for _, f := range tool.Lint(t.OutputSchema) {
				out = append(out, mcpFinding{t.Name, "output", f})
			}
		}
		if n := len("mcp__" + name + "__" + t.Name); n > longestName {
			out = append(out, mcpFinding{t.Name, "name", fmt.Sprintf("with mcp__%s__ before it, it has %d characters, and providers take %d", name, n, longestName)})
		}
		if n := len([]rune(t.Description)); n > longestDescription {
			out = append(out, mcpFinding{t.Name, "description", fmt.Sprintf("it has %d characters, and clients cut it at %d", n, longestDescription)})
		}
	}
	return out
}

// notes are about the longest list.
func notes(name string, tools []mcp.Listed) (out []string) {
	for _, t := range tools {
		if strings.Contains(t.Name, ".") {
			folded := tool.Fold(t.Name)
			out = append(out, fmt.Sprintf("dots in names: Claude Code and Codex list %s as mcp__%s__%s, Gemini CLI keeps the dots", t.Name, name, folded))
			break
		}
	}
	if len(tools) > mostTools {
		out = append(out, fmt.Sprintf("the full belt has %d tools, and some providers take %d: use the direct belt there", len(tools), mostTools))
	}
	if c := costOf("", tools); c.Tokens > manyTokens {
		out = append(out, fmt.Sprintf("the full belt costs some %d tokens, and Claude Code warns at %d", c.Tokens, manyTokens))
	}
	return append(out, "Claude Code may defer tools until its model searches for them; ENABLE_TOOL_SEARCH=false lists all at once")
}

// spawned measures a process.
func (a *app) spawned(ctx context.Context, program string, out *mcpDoctor) error {
	if program == "" {
		if program = thisProgram(clientfile.User); program == "soundstage" {
			out.NotSpawned = "this program is not called soundstage: name one with --command"
			return nil
		}
	}
	args := []string{program, "mcp"}
	if a.studio != "" {
		args = append(args, a.path(a.studio))
	}
	start := a.doors.Clock.Now()
	p, err := programs.Open(ctx, programs.PipeOptions{Dir: a.doors.Dir, Command: seam.Command{Args: args, Env: a.doors.Env}, Clock: a.doors.Clock, Stderr: a.doors.Stderr})
	if err != nil {
		return err
	}
	c, err := mcp.Attach(ctx, p, p, mcp.AttachOptions{Name: "soundstage-doctor", Version: Version()})
	if err == nil {
		_, err = c.Tools(ctx)
	}
	out.Spawned = milliseconds(a.doors.Clock.Now().Sub(start))
	return firstOf(err, p.Close())
}

// clientStates are the places where a client may have an entry: those of agents that are
// not there are left out.
func (a *app) clientStates(name string) []mcpClient {
	out := []mcpClient{}
	for _, c := range clientfile.Clients() {
		for _, scope := range []clientfile.Scope{clientfile.User, clientfile.Project} {
			p, err := c.Place(a.where(), scope)
			if err != nil {
				continue // it has no such scope
			}
			if at := p.Holding(name); len(at) > 0 {
				p = at[0]
			}
			state, words, err := p.Look(name)
			row := mcpClient{Client: c.Name, Scope: string(scope), File: p.File, State: string(state), Command: words}
			if err != nil {
				row.Detail = err.Error()
			}
			out = append(out, row)
		}
	}
	return out
}

func writeMCPDoctor(w io.Writer, out mcpDoctor) {
	fmt.Fprintf(w, "%s %s, MCP %s, instructions of %s\n", out.Server.Name, out.Server.Version, out.Server.Revision, count(out.Instructions, "byte"))
	fmt.Fprintf(w, "list of tools after %.1f ms in this process, ", out.InProcess)
	if out.NotSpawned != "" {
		fmt.Fprintf(w, "not measured in a new one (%s)\n\n", out.NotSpawned)
	} else {
		fmt.Fprintf(w, "%.1f ms in a new one\n\n", out.Spawned)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "FLAGS\tTOOLS\tBYTES\tTOKENS (ESTIMATE)")
	for _, b := range out.Belts {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\n", b.Flags, b.Tools, b.Bytes, b.Tokens)
	}
	fmt.Fprintln(t, "\nCLIENT\tSCOPE\tENTRY\tFILE")
	for _, c := range out.Clients {
		if c.State == string(clientfile.Absent) {
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", c.Client, c.Scope, c.State, c.File)
	}
	_ = t.Flush() // to a writer that was checked when it was opened
	fmt.Fprintln(w)
	for _, f := range out.Findings {
		fmt.Fprintf(w, "WRONG %s: %s: %s\n", f.Tool, f.Part, f.Finding)
	}
	if len(out.Findings) == 0 {
		fmt.Fprintln(w, "no client that we know would stumble over a schema, a name or a text")
	}
	writeTheirs(w, out.Theirs)
	for _, n := range out.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	fmt.Fprintf(w, "tokens: %s\n", out.Estimator)
}
