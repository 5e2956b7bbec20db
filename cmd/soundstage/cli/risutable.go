package cli

import (
	"io"
	"os"
	"path/filepath"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/rpack"
)

// spelling spells with the table that the settings of the studio in dir name. The file is
// opened where one is read or written that needs it, not before.
func (c config) spelling(dir string) *rpack.Speller {
	if c.RisuTable == "" {
		return rpack.New(nil)
	}
	path := c.RisuTable
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return rpack.New(func() ([]byte, error) { return readTable(path, c.RisuTable) })
}

// readTable reads one byte more than a table has, to see that there is none. name is how
// the person named the file.
func readTable(path, name string) ([]byte, error) {
	bad := func(err error, what string) error {
		return fault.Wrap(err, rpack.CodeTable, "risu.table", "%q, which %s names, %s", name, rpack.Setting, what).
			WithHint("let %s in %s name the file rpack_map.bin of Risu", rpack.Setting, configName)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, bad(err, "cannot be read")
	}
	if !info.Mode().IsRegular() { // a pipe would be waited for
		return nil, bad(os.ErrInvalid, "is not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, bad(err, "cannot be read")
	}
	defer f.Close() //nolint:errcheck // only read
	raw, err := io.ReadAll(io.LimitReader(f, rpack.TableSize+1))
	if err != nil {
		return nil, bad(err, "cannot be read")
	}
	return raw, nil
}
