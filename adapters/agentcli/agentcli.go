// Package agentcli is a model that is a person's own agent program: agent-cli/claude is
// Claude Code, with the account that it is signed in to.
//
// It is an adapter beside adapters/model and fills the same port. One request is one run
// of the program through the seam's door for commands, so that it is recorded and
// replayed like every other. The program is started with no tools of its own, no
// settings and no servers but our bridge (`soundstage mcp`), by which it works on the
// studio itself: the tools of the request are not handed on, and a reply holds text
// alone. It does not find the program, and it keeps no conversation.
package agentcli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/model"
)

// The codes of this package.
const (
	CodeFailed fault.Code = "MODEL_AGENT_FAILED" // the program ended without an answer
	CodeOutput fault.Code = "MODEL_AGENT_OUTPUT" // what it said cannot be read
)

// Prefix begins the refs of this package.
const Prefix = "agent-cli/"

// Bridge is what the program calls our server, and ConfigFile where it reads of it, below
// the studio.
const (
	Bridge     = "soundstage"
	ConfigFile = ".soundstage/agent-cli.json"
)

// A Runner runs a command: the seam's door does.
type Runner interface {
	Run(ctx context.Context, c seam.Command) (seam.Outcome, error)
}

var _ Runner = (*seam.ExecDoor)(nil)

// A Program is one agent program as a model.
type Program struct {
	ref, model string
	door       Runner
	work       string // the studio, absolute
}

var _ model.Provider = (*Program)(nil)

// Is reports whether a ref names an agent program.
func Is(ref string) bool { return strings.HasPrefix(ref, Prefix) }

// Open makes the model of a ref: agent-cli/claude, or agent-cli/claude/MODEL for one of
// the program's own models. Work is the folder that door works in.
func Open(ref, work string, door Runner) (*Program, error) {
	name, own, _ := strings.Cut(strings.TrimPrefix(ref, Prefix), "/")
	if !Is(ref) || name != "claude" || strings.HasPrefix(own, "-") || strings.ContainsAny(own, " \x00\n") || len(own) > 100 {
		return nil, fault.New(model.CodeUnknown, "agentcli.open", "no agent program %q", ref).WithHint("use agent-cli/claude, or agent-cli/claude/MODEL")
	}
	return &Program{ref: ref, model: own, door: door, work: work}, nil
}

// Info is what is known of any such program. What it costs is its plan's matter.
func (p *Program) Info() model.Info {
	return model.Info{Ref: p.ref, Name: "Claude Code", Context: 200_000, MaxOutput: 32_000}
}

// Command is the run for a request. It depends on nothing of the machine but the
// studio's folder, which the seam writes as $WORK.
func (p *Program) Command(req model.Request) seam.Command {
	args := []string{
		"claude", "--print", "--output-format", "stream-json", "--verbose",
		"--strict-mcp-config", "--mcp-config", p.work + "/" + ConfigFile,
		"--tools", "", "--allowedTools", "mcp__" + Bridge, "--permission-mode", "dontAsk",
		"--setting-sources", "", "--disable-slash-commands", "--no-session-persistence",
	}
	if p.model != "" {
		args = append(args, "--model", p.model)
	}
	if system := texts(req.System); system != "" {
		args = append(args, "--system-prompt", system)
	}
	return seam.Command{Args: args, Stdin: []byte(prompt(req.Messages))}
}

// prompt is a conversation as one text: the program begins a new one with each run.
func prompt(messages []model.Message) string {
	if len(messages) == 1 {
		return texts(messages[0].Parts)
	}
	var b strings.Builder
	b.WriteString("This is the conversation so far. Answer its last message.\n")
	for _, m := range messages {
		if text := texts(m.Parts); text != "" {
			fmt.Fprintf(&b, "\n[%s]\n%s\n", m.Role, text)
		}
	}
	return b.String()
}

func texts(parts []model.Part) string {
	var out []string
	for _, p := range parts {
		switch {
		case p.Kind == model.Text && p.Text != "":
			out = append(out, p.Text)
		case p.Kind == model.ResultPart && p.Result != nil:
			out = append(out, p.Result.Text)
		}
	}
	return strings.Join(out, "\n\n")
}

// Stream runs the program. See [model.Provider].
func (p *Program) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		out, err := p.door.Run(ctx, p.Command(req))
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		reply, err := Read(out)
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		if yield(model.Event{Kind: model.TextDelta, Delta: reply.Parts[0].Text}, nil) {
			yield(model.Event{Kind: model.Finish, Reply: &reply}, nil)
		}
	}
}

// A line is what is read of one line that the program says.
type line struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	IsError bool   `json:"is_error"`
	Result  string `json:"result"`
	Usage   *struct {
		Input      int64 `json:"input_tokens"`
		Output     int64 `json:"output_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
	} `json:"usage"`
	Servers []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"mcp_servers"`
}

// maxSaid bounds what of the program's words an error repeats, in bytes.
const maxSaid = 500

// Read makes a reply of what the program said.
func Read(out seam.Outcome) (model.Reply, error) {
	const op = "agentcli.read"
	var last *line
	for raw := range bytes.Lines(out.Stdout) {
		l := new(line)
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		if err := json.Unmarshal(raw, l); err != nil {
			return model.Reply{}, fault.New(CodeOutput, op, "the agent said a line that is not JSON: %.80q", raw).WithHint("run it by hand: is its version one that knows stream-json?")
		}
		if l.Type == "system" && l.Subtype == "init" {
			if err := bridged(l); err != nil {
				return model.Reply{}, err
			}
		}
		if l.Type == "result" {
			last = l
		}
	}
	switch {
	case last == nil:
		said := strings.TrimSpace(string(out.Stderr))
		return model.Reply{}, fault.New(CodeFailed, op, "the agent ended with status %d and no answer: %.*q", out.Exit, maxSaid, said).
			WithHint("run it by hand, and look whether it is signed in")
	case last.IsError:
		return model.Reply{}, fault.New(CodeFailed, op, "the agent failed: %.*q", maxSaid, cmp.Or(last.Result, last.Subtype)).
			WithHint("run it by hand, and look whether it is signed in")
	}
	return model.Reply{Parts: []model.Part{{Kind: model.Text, Text: last.Result}}, Reason: model.Stop, Usage: usage(last)}, nil
}

// bridged refuses a run that had another server than ours, or none: what it said it did
// would not be what was done.
func bridged(l *line) error {
	for _, s := range l.Servers {
		if s.Name != Bridge {
			return fault.New(CodeFailed, "agentcli.read", "the agent had the server %q, which is not ours", s.Name).WithHint("update it: it does not keep to --strict-mcp-config")
		}
		if s.Status == "failed" {
			return fault.New(CodeFailed, "agentcli.read", "the agent could not start our server").WithHint("try: soundstage mcp doctor")
		}
	}
	return nil
}

func usage(l *line) model.Usage {
	if l.Usage == nil {
		return model.Usage{State: model.UsageUnknown}
	}
	return model.Usage{State: model.Exact, Input: l.Usage.Input, Output: l.Usage.Output, CacheRead: l.Usage.CacheRead, CacheWrite: l.Usage.CacheWrite}
}
