package cli

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A config that is wrong says what, in one line and in the person's words.
func TestConfigSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"modle: x\n":                               "line 1: unknown key modle",
		"model: [1]\n":                             "line 1: found a seq where a text belongs",
		"caps: 5\n":                                "where a group of settings belongs",
		"caps: {session: -1}\n":                    `cap is "-1"`,
		"gate: \"\\x1b[2J\"\n":                     `gate is "\x1b[2J"`,
		"gate: guarded\n---\ngate: full\n":         "more than one document",
		"baseUrl: \"http://me:pw@127.0.0.1/v1\"\n": "a name or a password",
		"\tmodel: x\n":                             "cannot start any token",
		"\xff\xfe\x00":                             "UTF-16",
		strings.Repeat("a", maxConfig+1):           "longer than",
	} {
		w := newWorld(t)
		w.write(configName, text)
		code, _, errs := w.do("", "piece", "ls")
		line, _, _ := strings.Cut(errs, "\n")
		if code != exitInvalid || !strings.Contains(line, want) || strings.Contains(errs, "cli.") || strings.Contains(errs, "pw") || strings.Contains(errs, "\x1b") {
			t.Errorf("%.40q: exit status %d, %q, want %q", text, code, errs, want)
		}
	}
}

func TestConfigThatIsNoFile(t *testing.T) {
	w := newWorld(t)
	if err := os.Mkdir(filepath.Join(w.dir, configName), 0o755); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := w.do("", "piece", "ls"); code != exitInvalid || !strings.Contains(errs, "is not a file") {
		t.Errorf("a folder: exit status %d, %q", code, errs)
	}
	w = newWorld(t)
	fifo(t, filepath.Join(w.dir, configName))
	if code, _, errs := w.do("", "piece", "ls"); code != exitInvalid || !strings.Contains(errs, "is not a file") {
		t.Errorf("a pipe: exit status %d, %q", code, errs)
	}
}

func TestARunThatCannotBe(t *testing.T) {
	w := newWorld(t)
	w.must("", "init")
	for want, args := range map[string][]string{
		"empty": {" \n"}, "reasoning is": {"--reasoning", "much", "x"}, "at most": {"--max-calls", "-5", "x"}, "-7 replies": {"--max-rounds", "-7", "x"},
	} {
		if code, _, errs := w.do("", append([]string{"run"}, args...)...); code != exitInvalid || !strings.Contains(errs, want) {
			t.Errorf("%q: exit status %d, %q", args, code, errs)
		}
	}
}

// Doctor finds what reading alone does not, and says the rest all the same.
func TestDoctorFindsDamage(t *testing.T) {
	for name, harm := range map[string]struct {
		sql, want string
	}{
		"a body":      {`UPDATE revisions SET body = '{"identity":'`, "character/ada"},
		"an original": {`UPDATE blobs SET raw = x'00'`, "not what was kept"},
		"a trace":     {"", "line 1"},
	} {
		w := newWorld(t)
		w.must("", "init")
		w.write("ada.json", `{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Ada"}}`)
		w.must("", "import", "ada.json")
		if harm.sql == "" {
			w.write(".soundstage/sessions/s-1.jsonl", "x\n")
		} else {
			harmStore(t, filepath.Join(w.dir, stateDir, storeFile), harm.sql)
		}
		code, out, errs := w.do("", "doctor", "--rebuild")
		if code != exitInternal || !strings.Contains(out, "CLASS") || !strings.Contains(out+errs, harm.want) {
			t.Errorf("%s: exit status %d\n%s%s", name, code, out, errs)
		}
		if name != "an original" {
			continue
		}
		if code, _, errs := w.do("", "export", "character/ada", "-o", "out.json"); code != exitInternal {
			t.Errorf("export of a damaged original: exit status %d, %q", code, errs)
		}
	}
}

func harmStore(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}
