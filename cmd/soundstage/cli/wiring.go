package cli

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/soundstage-dev/soundstage/adapters/export"
	"github.com/soundstage-dev/soundstage/adapters/folder"
	"github.com/soundstage-dev/soundstage/adapters/format/agnai"
	"github.com/soundstage-dev/soundstage/adapters/format/ccv3"
	"github.com/soundstage-dev/soundstage/adapters/format/marinara"
	"github.com/soundstage-dev/soundstage/adapters/format/native"
	"github.com/soundstage-dev/soundstage/adapters/format/novelai"
	"github.com/soundstage-dev/soundstage/adapters/format/pygmalion"
	"github.com/soundstage-dev/soundstage/adapters/format/risu"
	"github.com/soundstage-dev/soundstage/adapters/format/rolecall"
	"github.com/soundstage-dev/soundstage/adapters/format/sillytavern"
	"github.com/soundstage-dev/soundstage/adapters/git"
	"github.com/soundstage-dev/soundstage/adapters/model"
	"github.com/soundstage-dev/soundstage/cmd/soundstage/stores"
	"github.com/soundstage-dev/soundstage/docs"
	"github.com/soundstage-dev/soundstage/harness/clock"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/harness/redact"
	"github.com/soundstage-dev/soundstage/runtime/capability"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/resource"
	"github.com/soundstage-dev/soundstage/runtime/result"
	"github.com/soundstage-dev/soundstage/runtime/studio"
	"github.com/soundstage-dev/soundstage/runtime/studio/content"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/lint"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
	"github.com/soundstage-dev/soundstage/runtime/studio/story"
	"github.com/soundstage-dev/soundstage/runtime/tool"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// The parts of a studio folder. Nothing of ours is outside of stateDir but the
// config and what a person exports.
const (
	stateDir    = stores.StateDir
	storeFile   = stores.StoreFile
	sessionsDir = "sessions"
)

// A house is one studio with everything that works in it. It is built anew for each
// run of the program, and opens nothing before it is used.
type house struct {
	dir      string
	cfg      config
	clock    clock.Clock
	redactor func() *redact.Redactor // made when something is to be written, or sent
	store    stores.Store
	drafts   *draft.Service
	results  *result.Sessions
	tools    []tool.Tool // those that do the work
	registry *tool.Registry
	table    *trust.Table
	cards    *studio.Cards
	shared   studio.Deps
	kinds    *studio.Kinds
	formats  *content.Formats
	rail     *studio.Rail
	folders  *folder.Folders
	locks    *gate.Locks
}

// open builds the house of the studio that the person is in, or named.
func (a *app) open(ctx context.Context) (*house, error) {
	dir, err := a.studioDir()
	if err != nil {
		return nil, err
	}
	var cfg config
	if remote := stores.Remote(a.studio); !remote || fileThere(filepath.Join(dir, configName)) {
		if cfg, err = readConfig(dir, a.studio); err != nil {
			return nil, err
		}
	}
	if stores.Remote(a.studio) {
		cfg.Store = a.studio
	}
	return a.settle(ctx, dir, cfg)
}

func fileThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// studioDir is the folder of the studio that the person is in, or named. One that was
// named by the address of its store has a folder among this person's state, for the
// traces of this host; a soundstage.yaml there may say more.
func (a *app) studioDir() (string, error) {
	if a.studio == "" {
		return findStudio(a.doors.Dir)
	}
	if !stores.Remote(a.studio) {
		return a.path(a.studio), nil
	}
	name, err := stores.FolderName(a.studio)
	if err != nil {
		return "", err
	}
	state := a.doors.Env["XDG_STATE_HOME"]
	if home := either(a.doors.Env, "HOME", "USERPROFILE"); !filepath.IsAbs(state) && home != "" {
		state = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(state) {
		return "", fault.New(codeNoStudio, "studio.open", "neither HOME nor XDG_STATE_HOME is set, so there is no place for the traces of this studio").
			WithHint("set one of them, or make a folder for it: soundstage init --store ADDRESS DIR")
	}
	return filepath.Join(state, "soundstage", "studios", name), nil
}

// settle builds the house in a folder that has, or gets, a place for state.
func (a *app) settle(ctx context.Context, dir string, cfg config) (*house, error) {
	if err := os.MkdirAll(filepath.Join(dir, stateDir, sessionsDir), 0o755); err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "studio.open", "make %s in the studio", stateDir).
			WithHint("check who may write the studio's folder, and that nothing else has the name %s there", stateDir)
	}
	return a.build(ctx, dir, cfg)
}

// bare is a house without a studio, for commands that only read the registry.
func (a *app) bare(ctx context.Context) (*house, error) {
	return a.build(ctx, a.doors.Dir, config{})
}

// build is the wiring: every part, every door, once.
func (a *app) build(ctx context.Context, dir string, cfg config) (*house, error) {
	st, err := stores.Open(ctx, dir, cfg.Store, a.doors.Env)
	if err != nil {
		return nil, err
	}
	h := &house{
		dir: dir, cfg: cfg, clock: a.doors.Clock, store: st,
		redactor: sync.OnceValue(func() *redact.Redactor { return a.redactor(dir) }), results: result.NewSessions(), locks: gate.NewLocks(st),
	}
	h.kinds = newKinds()
	h.formats = formatsWith(cfg.spelling(dir))
	h.drafts = draft.New(st, st, h.clock, h.kinds)
	h.rail, h.folders = studio.NewRail(), a.folders(dir)
	shared := studio.Deps{
		Store: st, Drafts: h.drafts, Results: h.results, Clock: h.clock, Kinds: h.kinds,
		Drawers: st, Blocks: content.Blocks{}, Gallery: content.Gallery{}, Rail: h.rail, Folders: h.folders, Importer: incomer{h.formats},
		Converter: outgoer{h.formats}, Exports: export.New(export.Options{Studio: dir, Name: exportDir, Clock: h.clock}),
		Linter: lint.New(),
	}
	tools := slices.Concat(studio.Tools(shared), content.Tools(content.Deps{Drafts: h.drafts, Formats: h.formats}), story.Tools(a.storyDeps(dir, h.redactor)))
	h.tools, h.shared = tools, shared
	h.registry = newRegistry(tools)
	h.table = trust.NewTable(trust.Rows()...)
	h.cards = studio.NewCards(shared)
	return h, nil
}

// newKinds are the kinds of all studios.
func newKinds() *studio.Kinds {
	var kinds []studio.Kind
	for _, k := range content.Kinds() {
		kinds = append(kinds, k)
	}
	return studio.NewKinds(kinds...)
}

// newFormats are the formats of all platforms, where no table of Risu's is at hand.
func newFormats() *content.Formats { return formatsWith(nil) }

// formatsWith are the formats of all platforms. What Risu spells with its table is read
// and written with spell.
func formatsWith(spell *rpack.Speller) *content.Formats {
	return content.NewFormats(slices.Concat(
		ccv3.Formats(spell),
		native.Formats(),
		sillytavern.Formats(),
		rolecall.Formats(),
		pygmalion.Formats(),
		marinara.Formats(),
		agnai.Formats(),
		risu.Formats(spell),
		novelai.Formats(),
	)...)
}

// newRegistry adds what finds and runs deferred tools to tools. It knows of no others,
// so that it reveals none that cannot be called.
func newRegistry(tools []tool.Tool) *tool.Registry {
	catalog := func() []tool.Tool { return tools }
	return tool.NewRegistry(slices.Concat(tools, capability.Tools(catalog))...)
}

// close ends what was opened.
func (h *house) close() { _ = h.store.Close() } // what was written is on disk before

// gate makes a gate in the mode asked for, or the studio's own.
func (h *house) gate(registry *tool.Registry, mode trust.Mode) *gate.Gate {
	return gate.New(gate.Options{
		Registry: registry, Table: h.table, Mode: mode, Clock: h.clock,
		Results: h.results, Reviewer: h.cards, Locks: h.locks,
	})
}

// resources is what a client of a session with these tools can read by address.
func (h *house) resources(registry *tool.Registry) *resource.Catalog {
	return resource.New(resource.Options{
		Registry: registry, Store: h.store, Drafts: h.drafts, Sessions: h.sessions(),
		Mask: func(b []byte) []byte { return h.redactor().Mask(b) }, Docs: docs.Pages,
	})
}

// redactor knows the secrets of this environment and the folders that say where
// somebody works.
func (a *app) redactor(dir string) *redact.Redactor {
	home := a.doors.Env["HOME"]
	if home == "" {
		home = a.doors.Env["USERPROFILE"]
	}
	return redact.New(redact.Options{Env: a.secrets(), Home: home, Work: dir})
}

// secrets are values that reach no disk, by name, among others that may.
func (a *app) secrets() map[string]string {
	env := maps.Clone(a.doors.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, a.serverSecrets())
	return env
}

// A history says what changed in the folder that the program was started in.
type history interface {
	Changed(ctx context.Context, ref string) ([]string, error)
	Show(ctx context.Context, ref, file string) ([]byte, error)
}

// history is the door to git: the program is started when something is asked.
func (a *app) history() history { return git.New(a.doors.Dir) }

// again is the program for a command that runs scenarios.
func (a *app) again() *Program { return &Program{a.catalog()} }

// catalog is the models that are known; it is read when it is first asked.
func (a *app) catalog() *model.Catalog {
	if a.models == nil {
		a.models = model.NewCatalog()
	}
	return a.models
}
