package cli

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/soundstage-dev/soundstage/cmd/soundstage/stores"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/trust"
)

// configName is the file that makes a folder a studio.
const configName = stores.ConfigFile

// maxConfig bounds the file, in bytes.
const maxConfig = 64 << 10

// The codes of a studio folder.
const (
	codeNoStudio  fault.Code = "STUDIO_MISSING" // no soundstage.yaml here or above
	codeBadConfig fault.Code = "CONFIG_INVALID" // it does not say what it should
)

// A config is what soundstage.yaml says. Keys and secrets are never in it: they
// come from the environment.
type config struct {
	Model   string `yaml:"model"`   // "anthropic/claude-sonnet-4-5"
	Gate    string `yaml:"gate"`    // guarded, autopilot, full
	Caps    caps   `yaml:"caps"`    // dollars
	Store   string `yaml:"store"`   // "" is a file in the studio; an address, or $NAME of a variable that holds one
	BaseURL string `yaml:"baseUrl"` // of an OpenAI-compatible or proxied provider

	RisuTable string `yaml:"risuTable"` // the file with Risu's table of bytes, from the studio's folder; "" is none
}

// caps are limits in dollars, as decimal text; "" is none.
type caps struct {
	Session string `yaml:"session"`
	Day     string `yaml:"day"`
	Studio  string `yaml:"studio"`
}

// configText is what init writes.
const configText = `# A Soundstage studio. Keys are read from the environment, never from here.
model: %s
# guarded asks before every write, autopilot before deletes, full never.
gate: guarded
# Dollars; a model whose price is unknown does not run under a cap.
caps:
  session: "%s"
`

// storeText is what init adds for a store on a server.
const storeText = `# Where the pieces are. The password comes from ` + stores.EnvPassword + `, PGPASSWORD or .pgpass.
store: %q
`

// readConfig reads the file of the studio in dir, strictly. name is how the person
// named the folder.
func readConfig(dir, name string) (config, error) {
	const op = "config.read"
	var c config
	path := filepath.Join(dir, configName)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe would be waited for
		return c, fault.New(codeBadConfig, op, "%s is not a file", configName).WithHint("move it away, then: soundstage init %s", name)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, fault.New(codeNoStudio, op, "there is no studio in %q: it has no %s", name, configName).
			WithHint("make it one: soundstage init %s", name)
	}
	if err != nil {
		return c, fault.Wrap(err, fault.Internal, op, "open %s", configName)
	}
	defer f.Close() //nolint:errcheck // only read
	raw, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return c, fault.Wrap(err, fault.Internal, op, "read %s", configName)
	}
	if len(raw) > maxConfig {
		return c, fault.New(codeBadConfig, op, "%s is longer than %d bytes", configName, maxConfig)
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return c, fault.New(codeBadConfig, op, "%s: %s", configName, wordsOfYAML(err)).
			WithHint("the keys are model, gate, caps with session, day and studio, store, baseUrl and risuTable")
	}
	if err := dec.Decode(&config{}); !errors.Is(err, io.EOF) { // its settings would not count
		return c, fault.New(codeBadConfig, op, "%s holds more than one document", configName).WithHint("take the line --- out of it")
	}
	return c, c.check(configName)
}

// wordsOfYAML is the library's complaint in one line, without the names of our types.
func wordsOfYAML(err error) string {
	s := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n")
	s = goType().ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasPrefix(m, " into ") {
			return " where a group of settings belongs"
		}
		return ""
	})
	return strings.Join(strings.Fields(strings.NewReplacer("cannot unmarshal !!", "found a ", " into string", " where a text belongs", "field ", "unknown key ", " not found", "").Replace(s)), " ")
}

// goType is compiled when a configuration is bad: a program that starts well does not wait.
var goType = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` (in type|into) cli\.\w+`) })

// check finds what no setting may say; where names the place that says it.
func (c config) check(where string) error {
	if c.Gate != "" && !slices.Contains(gateModes, trust.Mode(c.Gate)) {
		return fault.New(codeBadConfig, "config.read", "%s: gate is %q", where, c.Gate).
			WithHint("use guarded, autopilot or full")
	}
	if err := stores.Check(c.Store); err != nil {
		return fault.Wrap(err, codeBadConfig, "config.read", "%s: store", where).WithHint("%s", fault.HintOf(err))
	}
	if u, err := url.Parse(c.BaseURL); err == nil && u.User != nil {
		return fault.New(codeBadConfig, "config.read", "%s: baseUrl holds a name or a password", where).
			WithHint("keep it out of files: keys are read from the environment")
	}
	for _, s := range []string{c.Caps.Session, c.Caps.Day, c.Caps.Studio} {
		if _, err := ledger.ParseDollars(s); s != "" && err != nil {
			return fault.New(codeBadConfig, "config.read", "%s: cap is %q", where, s).
				WithHint(`write dollars, like "2.50"`)
		}
	}
	return nil
}

var gateModes = []trust.Mode{trust.Guarded, trust.Autopilot, trust.Full}

// findStudio walks up from dir to the folder that holds the config.
func findStudio(dir string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, configName)); err == nil {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fault.New(codeNoStudio, "config.find", "there is no %s in this folder or above it", configName).
				WithHint("make this folder a studio: soundstage init; or name one with --studio")
		}
	}
}
