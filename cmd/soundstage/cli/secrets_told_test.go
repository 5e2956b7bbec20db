package cli

import (
	"encoding/json"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/script"
)

// untold wants none of the secrets in a text, in no encoding; also not as XML.
func untold(t *testing.T, where, text string, secrets map[string]string) {
	t.Helper()
	for _, text := range []string{text, html.UnescapeString(text)} {
		for name, v := range secrets {
			for how, coded := range encodings(v) {
				if i := strings.Index(text, coded); i >= 0 {
					t.Errorf("%s tells %s as %s: …%q…", where, name, how, text[max(0, i-60):min(len(text), i+20)])
				}
			}
		}
	}
}

// planted is a world whose environment holds secrets, and a card that tells them.
func planted(t *testing.T) (w *world, secrets map[string]string, card string) {
	t.Helper()
	w, secrets = newWorld(t), secretEnv()
	for k, v := range secrets {
		w.env[k] = v
	}
	raw, err := json.Marshal(map[string]any{"spec": "chara_card_v2", "spec_version": "2.0", "data": map[string]any{
		"name": "Ada", "description": spill(secrets, "json", "json plain"), "first_mes": "Sit.", "extensions": map[string]any{},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return w, secrets, string(raw)
}

// What a failed scenario says goes to the pages and files of CI: the log, JUnit, and the
// annotations tell no secret that the program knows of.
func TestNoSecretInTheReportsOfScenarios(t *testing.T) {
	w, secrets, card := planted(t)
	w.write("scenarios/a/bad.txtar", "# a card is shown\nsoundstage init .\nsoundstage import ada.json\nsoundstage piece show character/ada\nstdout 'nosuch'\n-- ada.json --\n"+card+"\n")
	code, out, errs := w.do("", "test", "--junit", "report.xml", "--annotations")
	report := read(t, filepath.Join(w.dir, "report.xml"))
	if code != exitInternal || !strings.Contains(out, "::error file=") {
		t.Fatalf("exit status %d\n%s%s", code, out, errs)
	}
	for where, text := range map[string]string{"the log": out, "standard error": errs, "JUnit": report} {
		untold(t, where, text, secrets)
		if where != "standard error" && !strings.Contains(text, "secret:GITHUB_TOKEN") {
			t.Errorf("%s says nothing of the card: nothing was planted", where)
		}
	}
}

// A provider that repeats the secrets today tells them to nobody by drift.
func TestNoSecretInDrift(t *testing.T) {
	spilt := spill(secretEnv())
	for name, tt := range map[string]struct {
		say  any
		want int
	}{
		"in arguments, masked": {map[string]any{"calls": []any{map[string]any{"tool": "studio_search", "input": map[string]any{"query": spilt}}}}, exitInternal},
		"in a text, refused":   {map[string]any{"text": spilt}, exitModel}, // it comes in pieces
	} {
		t.Run(name, func(t *testing.T) {
			w, secrets, _ := planted(t)
			w.write("scenarios/a/hello.txtar", "# what is here\ncassette a/hello\nsoundstage init .\nsoundstage run --model google/gemini-2.5-pro 'What is here?'\n")
			w.write("scenarios/a/hello.upstream.yaml", "turns:\n- say: {text: Nothing is here.}\n")
			w.must("", "record", "a/hello")
			raw, err := json.Marshal(map[string]any{"turns": []any{map[string]any{"say": tt.say}, map[string]any{"say": map[string]any{"text": "Nothing."}}}})
			if err != nil {
				t.Fatal(err)
			}
			upstream := w.write("today.yaml", string(raw))
			for _, how := range []string{"", "--json"} {
				code, out, errs := w.do("", strings.Fields("drift a/hello --upstream "+upstream+" "+how)...)
				if code != tt.want || !strings.Contains(out+errs, "{{secret:") {
					t.Fatalf("exit status %d, or nothing was planted\n%s%s", code, out, errs)
				}
				untold(t, "drift "+how, out+errs, secrets)
			}
			if left, err := os.ReadDir(w.env["TMPDIR"]); err != nil || len(left) > 0 {
				t.Errorf("drift left %v, %v", left, err)
			}
		})
	}
}

// A session in which secrets went about becomes a scenario without them, or none.
func TestNoSecretInAScenarioOfATrace(t *testing.T) {
	for name, want := range map[string]int{"in the request": exitOK, "in a piece, in every encoding": exitSeam} {
		t.Run(name, func(t *testing.T) {
			w, secrets, card := planted(t)
			if want == exitOK {
				card = ada
			}
			w.write("ada.json", card)
			w.write(configName, "model: google/gemini-2.5-pro\n")
			w.must("", "import", "ada.json")
			w.env[script.EnvUpstream] = w.write("up.yaml", "turns:\n- say: {calls: [{tool: studio_read, input: {kind: character, id: ada}}]}\n- say: {text: It is not.}\n")
			w.must("", "run", "--mode", "record", "--cassette", "demo/a", "Is "+secrets["GITHUB_TOKEN"]+" in her card?")
			delete(w.env, script.EnvUpstream)
			for _, args := range []string{"trace to-scenario s-0001 -o made/a", "trace to-scenario s-0001 -o made/b --json"} {
				code, out, errs := w.do("", strings.Fields(args)...)
				if code != want {
					t.Fatalf("exit status %d\n%s%s", code, out, errs)
				}
				untold(t, args, out+errs, secrets)
			}
			made := 0
			for _, dir := range []string{filepath.Join(w.dir, "scenarios"), filepath.Join(w.dir, "cassettes"), w.env["TMPDIR"]} {
				_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // no folder holds nothing
					if err == nil && !d.IsDir() {
						untold(t, path, read(t, path), secrets)
						made++
					}
					return nil
				})
			}
			if made == 0 { // there is the session's own cassette, at least
				t.Error("nothing was searched")
			}
		})
	}
}
