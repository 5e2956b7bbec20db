package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"

	"github.com/soundstage-dev/soundstage/adapters/agentcli"
	"github.com/soundstage-dev/soundstage/adapters/clientfile"
	program "github.com/soundstage-dev/soundstage/adapters/process"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	port "github.com/soundstage-dev/soundstage/runtime/model"
)

// envClaude names the program of agent-cli/claude, where it is not claude in PATH.
const envClaude = "SOUNDSTAGE_CLAUDE"

// agentCLI opens the person's own agent program as the model. It is paid for by its
// plan, so it has no price.
func (a *app) agentCLI(h *house, door *seam.Seam, writes bool) (port.Provider, ledger.PriceList, error) {
	none := ledger.NewPriceList(nil)
	exec, err := door.Exec(seam.ExecOptions{Work: h.dir, Runner: agentRunner{a, writes}})
	if err != nil {
		return nil, none, err
	}
	p, err := agentcli.Open(h.cfg.Model, h.dir, exec)
	if err != nil {
		return nil, none, err
	}
	return p, none, nil
}

// An agentRunner starts the program as its person would: with their environment, which
// is no part of what is recorded. It can be asked outside of a replay only.
type agentRunner struct {
	a      *app
	writes bool
}

// Run implements seam.Runner.
func (r agentRunner) Run(ctx context.Context, dir string, c seam.Command) (seam.Outcome, error) {
	if err := r.bridge(dir); err != nil {
		return seam.Outcome{}, err
	}
	c.Args = append([]string{cmp.Or(r.a.doors.Env[envClaude], c.Args[0])}, c.Args[1:]...)
	c.Env = maps.Clone(r.a.doors.Env)
	c.Env["ENABLE_TOOL_SEARCH"] = "false" // it would hide our tools behind a search
	return program.Runner{}.Run(ctx, dir, c)
}

// bridge writes the one server that the program gets.
func (r agentRunner) bridge(dir string) error {
	type entry struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	args := []string{"mcp", "--read-only", dir}
	if r.writes {
		args = []string{"mcp", "--gate", "guarded", dir}
	}
	b, err := json.MarshalIndent(map[string]map[string]entry{"mcpServers": {agentcli.Bridge: {"stdio", thisProgram(clientfile.User), args}}}, "", "  ")
	if err != nil {
		return fault.Wrap(err, fault.Internal, "agentcli.bridge", "encode %s", agentcli.ConfigFile)
	}
	path := filepath.Join(dir, filepath.FromSlash(agentcli.ConfigFile))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fault.Wrap(err, fault.Internal, "agentcli.bridge", "make the folder of %s", agentcli.ConfigFile)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o600); err != nil { // made anew for each run
		return fault.Wrap(err, fault.Internal, "agentcli.bridge", "write %s", agentcli.ConfigFile)
	}
	return nil
}
