package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/adapters/model"
	"github.com/soundstage-dev/soundstage/harness/cassette"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/upstream"
)

// secretEnv is twelve variables whose values are secrets of twelve shapes. They are
// put together here, so that no scanner takes this file for a leak.
func secretEnv() map[string]string {
	ab := func(n int) string { return strings.Repeat("aB3xQ9", 20)[:n] }
	return map[string]string{
		"ANTHROPIC_API_KEY":     "sk-" + "ant-api03-" + ab(40),
		"GITHUB_TOKEN":          "gh" + "p_" + ab(36),
		"AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCY" + ab(10),
		"SLACK_BOT_TOKEN":       "xo" + "xb-1234567890-" + ab(24),
		"GEMINI_API_KEY":        "AI" + "za" + ab(35),
		"SESSION_JWT":           "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NSJ9." + ab(30),
		"DATABASE_PASSWORD":     `he said "no\way" <to> & 'fro'`,
		"QUEUE_DSN":             "amqp-pass:" + "word-" + ab(12),
		"SIGNING_PRIVATE_KEY":   "-----BEGIN " + "PRIVATE KEY-----\n" + ab(60) + "\n" + ab(30) + "\n-----END PRIVATE KEY-----",
		"MAIL_PASSPHRASE":       "pässwörd für Łukasz “quoted”",
		"DEPLOY_COOKIE":         "sid=" + ab(16) + "; path=/",
		"HEX_SECRET":            hex.EncodeToString([]byte(ab(16))),
	}
}

// encodings is a secret as it can stand in what a run writes.
func encodings(v string) map[string]string {
	quoted, _ := json.Marshal(v) // a text
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // a text
	return map[string]string{
		"plain":      v,
		"base64":     base64.StdEncoding.EncodeToString([]byte(v)),
		"base64 url": base64.RawURLEncoding.EncodeToString([]byte(v)),
		"query":      url.QueryEscape(v),
		"path":       url.PathEscape(v),
		"hex":        hex.EncodeToString([]byte(v)),
		"json":       strings.Trim(string(quoted), `"`),
		"json plain": strings.Trim(strings.TrimSpace(plain.String()), `"`),
	}
}

// A leaky is a provider's network that sees the real key, and answers with the
// secrets in its headers.
type leaky struct {
	next    http.RoundTripper
	secrets map[string]string // and the rest of the environment
	key     string
	sawKey  bool
	sawURL  bool
}

func (l *leaky) RoundTrip(r *http.Request) (*http.Response, error) {
	l.sawKey = l.sawKey || r.Header.Get("X-Api-Key") == l.key || r.Header.Get("X-Goog-Api-Key") == l.key
	l.sawURL = l.sawURL || strings.Contains(r.URL.String(), l.secrets["HEX_SECRET"])
	res, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	for name := range secretEnv() {
		v := l.secrets[name]
		res.Header.Set("X-Echo-"+strings.ReplaceAll(name, "_", "-"), url.QueryEscape(v))
	}
	res.Header.Set("Set-Cookie", l.secrets["DEPLOY_COOKIE"])
	res.Header.Set("Request-Id", l.secrets["GITHUB_TOKEN"]) // of the headers that are kept
	res.Header.Set("Location", "https://h.example/?token="+url.QueryEscape(l.secrets["AWS_SECRET_ACCESS_KEY"]))
	return res, nil
}

// spill is a text with every secret in every encoding, but for those that are left
// out.
func spill(secrets map[string]string, but ...string) string {
	var b strings.Builder
	// In one order: where a tool clips the text, a secret is cut, and what is left of it
	// may be refused in place of masked.
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		v := secrets[name]
		coded := encodings(v)
		for _, how := range slices.Sorted(maps.Keys(coded)) {
			if slices.Contains(but, how) {
				continue
			}
			fmt.Fprintf(&b, "%s as %s: %s ;\n", name, how, coded[how])
		}
		fmt.Fprintf(&b, "see https://x.example/p/%s?api_key=%s ;\n", url.PathEscape(v), url.QueryEscape(v))
	}
	return b.String()
}

// Twelve shapes of secrets are in the environment, and everywhere that a turn can
// carry them: the provider's key, its address, the person's text, a card, tool results,
// tool arguments, the model's text, response headers. A recording run leaves none of
// them on the disk, in no encoding: it masks them, and where it cannot, because a stream
// has them in pieces, it refuses to record.
//
// The store is the exception that is meant: pieces and drafts are the person's own
// content, kept as it was given, and a card may hold anything. The test holds that too.
func TestNoSecretReachesTheDisk(t *testing.T) {
	for name, c := range map[string]leak{
		"told to the model":         {model: "anthropic/claude-sonnet-4-5", key: "ANTHROPIC_API_KEY", cassettes: 1},
		"said by the model, whole":  {model: "google/gemini-2.5-pro", key: "GEMINI_API_KEY", args: true, cassettes: 1},
		"said by the model, pieces": {model: "anthropic/claude-sonnet-4-5", key: "ANTHROPIC_API_KEY", args: true, text: true, code: exitSeam},
	} {
		t.Run(name, func(t *testing.T) { leakOnce(t, c) })
	}
}

// A leak is one run in which secrets go about.
type leak struct {
	model, key string
	args, text bool // the model spells them in tool arguments, in its text
	code       int  // the exit status
	cassettes  int  // recorded
}

func leakOnce(t *testing.T, c leak) {
	secrets := secretEnv()
	text := spill(secrets)
	// What a tool reads is JSON in JSON on the wire: a third layer is not masked but
	// refused, which the last case has.
	content := spill(secrets, "json", "json plain")
	w := newWorld(t)
	for k, v := range secrets {
		w.env[k] = v
	}
	card, err := json.Marshal(map[string]any{"spec": "chara_card_v2", "spec_version": "2.0", "data": map[string]any{
		"name": "Ada", "description": content, "first_mes": "Sit.", "extensions": map[string]any{},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.write(configName, "model: "+c.model+"\nbaseUrl: https://h.example/"+secrets["HEX_SECRET"]+"\n")
	in := w.write("ada.json", string(card))
	w.must("", "import", "ada.json")
	if err := os.Remove(in); err != nil { // it was the person's
		t.Fatal(err)
	}

	door, below := leakyDoor(t, w, c, content)
	var out, errs bytes.Buffer
	code := Main(Doors{
		Args: []string{"run", text}, Env: w.env, Dir: w.dir, Clock: w.clock, Seam: door,
		Stdin: strings.NewReader("n\n"), Stdout: &out, Stderr: &errs,
	})
	if err := door.Close(); code != c.code || (err == nil) != (c.cassettes == 1) {
		t.Fatalf("exit status %d, %v\n%s%s", code, err, out.String(), errs.String())
	}
	if code == exitSeam && !strings.Contains(errs.String(), "CASSETTE_NOT_SAFE") {
		t.Errorf("it failed for something else: %s", errs.String())
	}
	if !below.sawKey || !below.sawURL {
		t.Errorf("the provider saw its key: %v, its address: %v: nothing was planted", below.sawKey, below.sawURL)
	}
	w.must("", "doctor", "--rebuild")
	if err := os.Remove(filepath.Join(w.dir, configName)); err != nil { // the person's too
		t.Fatal(err)
	}
	searchDisk(t, w.dir, secrets, c.cassettes)
}

// leakyDoor records what a scripted model says, behind a network that leaks.
func leakyDoor(t *testing.T, w *world, c leak, text string) (*seam.Seam, *leaky) {
	t.Helper()
	call := func(tool string, input any) []any {
		return []any{map[string]any{"tool": tool, "input": input}}
	}
	said, args := "I look.", "A drawing room."
	if c.text {
		said = text
	}
	if c.args {
		args = text
	}
	raw, err := json.Marshal(map[string]any{"turns": []any{
		map[string]any{"say": map[string]any{"text": said, "calls": call("studio_read", map[string]any{"kind": "character", "id": "ada"})}},
		map[string]any{"say": map[string]any{"calls": call("capability_find", map[string]any{"id": "character.prompts.update"})}},
		map[string]any{"say": map[string]any{"calls": call("character_prompts_update", map[string]any{"id": "ada", "scenario": args})}},
		map[string]any{"say": map[string]any{"text": "Done."}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	script, err := upstream.Parse("leaky.upstream.yaml", raw)
	if err != nil {
		t.Fatal(err)
	}
	a := &app{doors: Doors{Env: w.env, Dir: w.dir, Clock: w.clock}}
	cfg, err := readConfig(w.dir, w.dir)
	if err != nil {
		t.Fatal(err)
	}
	access, err := a.access(cfg)
	if err != nil {
		t.Fatal(err)
	}
	below := &leaky{next: upstream.NewTransport(upstream.New(script)), secrets: w.env, key: w.env[c.key]}
	door, err := seam.Open(seam.Options{
		Mode: seam.Record, Cassette: filepath.Join(w.dir, "cassettes", "leaky.yaml"), Origin: cassette.Scripted,
		Transport: model.Outside(below, a.catalog(), access, w.clock), Clock: w.clock, Redactor: a.redactor(w.dir), Rules: seam.DefaultRules(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return door, below
}

// searchDisk looks into every file for every secret in every encoding.
func searchDisk(t *testing.T, dir string, secrets map[string]string, want int) {
	t.Helper()
	var cassettes, traces int
	var stored bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw := []byte(read(t, path))
		if strings.HasPrefix(d.Name(), storeFile) {
			stored.Write(raw)
			return nil
		}
		switch filepath.Ext(path) {
		case ".yaml":
			cassettes++
		case ".jsonl":
			traces++
		}
		for name, v := range secrets {
			for how, text := range encodings(v) {
				if i := bytes.Index(raw, []byte(text)); i >= 0 {
					t.Errorf("%s holds %s as %s: …%q…", d.Name(), name, how, raw[max(0, i-60):min(len(raw), i+20)])
				}
			}
		}
		return nil
	})
	if err != nil || cassettes != want || traces != 1 {
		t.Errorf("%v: %d cassettes and %d traces were searched", err, cassettes, traces)
	}
	if !slices.ContainsFunc([]string{secrets["GITHUB_TOKEN"], secrets["HEX_SECRET"]}, func(s string) bool { return bytes.Contains(stored.Bytes(), []byte(s)) }) {
		t.Error("the person's own card was not kept as it was")
	}
}
