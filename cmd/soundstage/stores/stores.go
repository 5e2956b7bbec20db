// Package stores opens the store of a studio by its address: a file in the studio's
// folder, or a schema on a server.
//
// It belongs to cmd and is shared by the command line and the words of scenarios. It
// chooses and reads no more than one key of soundstage.yaml; what a store does is the
// adapters' part. It opens nothing before the first use, as they do.
package stores

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/soundstage-dev/soundstage/adapters/postgres"
	"github.com/soundstage-dev/soundstage/adapters/sqlite"
	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/draft"
	"github.com/soundstage-dev/soundstage/runtime/drawer"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/ledger"
	"github.com/soundstage-dev/soundstage/runtime/question"
	"github.com/soundstage-dev/soundstage/runtime/store"
)

// A Store is all that a studio keeps, whatever keeps it.
type Store interface {
	Pieces
	draft.Drafts
	ledger.Rows
	Beside
	gate.Between
	Backend
}

// Pieces is where the pieces are.
type Pieces interface {
	store.Store
	store.Together
}

// Beside is what is kept beside the pieces and their drafts.
type Beside interface {
	question.Rows
	drawer.Rows
}

// Backend is what every store has beside its ports.
type Backend interface {
	io.Closer
	Opens() int64 // how often it was opened: 0 before first use
}

// The parts of a studio folder that this package knows.
const (
	ConfigFile = "soundstage.yaml"
	StateDir   = ".soundstage"
	StoreFile  = "store.db"
)

// EnvPassword is the variable that holds the password of a store on a server.
const EnvPassword = "SOUNDSTAGE_STORE_PASSWORD"

// Remote says whether s is the address of a store on a server, and no folder.
func Remote(s string) bool { return postgres.Is(s) }

// FolderName names a folder for what one host keeps of the studio at a URL: the same for
// every spelling of an address, and safe in a path.
func FolderName(address string) (string, error) {
	if err := Check(address); err != nil {
		return "", err
	}
	a, _, err := postgres.Parse(address)
	if err != nil {
		return "", err
	}
	a.SSLMode, a.RootCert = "", "" // how, not where
	sum := sha256.Sum256([]byte(a.String()))
	return a.Schema + "-" + hex.EncodeToString(sum[:6]), nil
}

// variable is an address that stands in the environment: $DATABASE_URL.
var variable = regexp.MustCompile(`^\$[A-Za-z_][A-Za-z0-9_]*$`)

// Check says whether address may stand in a config: "" is the file in the studio,
// $NAME a variable that holds the address, and else it is a URL without a password.
func Check(address string) error {
	if address == "" || variable.MatchString(address) {
		return nil
	}
	_, password, err := postgres.Parse(address)
	if err == nil && password != "" {
		return fault.New(postgres.CodeAddress, "store.address", "the address of the store holds a password").
			WithHint("keep it out of files and commands: set %s, or write the whole address into a variable and name that: $NAME", EnvPassword)
	}
	return err
}

// Open names the store of the studio in dir. env is the whole environment.
func Open(ctx context.Context, dir, address string, env map[string]string) (Store, error) {
	if err := Check(address); err != nil {
		return nil, err
	}
	if address == "" {
		return sqlite.Open(ctx, filepath.Join(dir, StateDir, StoreFile))
	}
	if name, ok := strings.CutPrefix(address, "$"); ok {
		if address = env[name]; address == "" {
			return nil, fault.New(postgres.CodeAddress, "store.address", "the studio's store is at the address in %s, which is not set", name).
				WithHint("set it, like %s=postgres://ada@db.example/studios?schema=mine", name)
		}
	}
	a, password, err := postgres.Parse(address)
	if err != nil {
		return nil, err
	}
	o := postgres.Options{Address: a, Password: password, Passfile: env["PGPASSFILE"]}
	for _, name := range []string{EnvPassword, "PGPASSWORD"} {
		if o.Password == "" {
			o.Password = env[name]
		}
	}
	if home := env["HOME"]; o.Passfile == "" && home != "" {
		o.Passfile = filepath.Join(home, ".pgpass")
	}
	return postgres.Open(o)
}

// maxConfig bounds what is read of a config, in bytes. A longer one is refused elsewhere.
const maxConfig = 64 << 10

// Address is what the config of the studio in dir says of its store. What else stands
// there is not looked at, and a studio without a config keeps its pieces in a file.
func Address(dir string) (string, error) {
	f, err := os.Open(filepath.Join(dir, ConfigFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fault.Wrap(err, fault.Internal, "store.address", "open %s", ConfigFile)
	}
	defer f.Close() //nolint:errcheck // only read
	var c struct {
		Store string `yaml:"store"`
	}
	if err := yaml.NewDecoder(io.LimitReader(f, maxConfig)).Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return "", fault.New(fault.Invalid, "store.address", "%s cannot be read", ConfigFile)
	}
	return c.Store, nil
}
