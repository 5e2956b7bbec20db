package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/soundstage-dev/soundstage/harness/proxy"
	"github.com/soundstage-dev/soundstage/harness/seam"
	"github.com/soundstage-dev/soundstage/harness/snapshot"
)

const presetsIntro = `# Client presets

What matching does not look at, for agents that others made. ` + "`soundstage proxy --client NAME`" + ` lists the client's preset in a
recording's header beside the defaults, and a replay goes by the header. A rule is there because two runs that are the same
were seen to differ in just this; everything else is part of the question. A preset's meaning never changes: another meaning
is another number. This page is generated.

` + "`*`" + ` in a pointer is any index. *drop* leaves a member out, *alias* counts ids by order of appearance, *unwrap* takes a list of one
text for that text, *mask* replaces a part of a string.
`

// TestClientPresetsPage holds that the page says what the code does.
func TestClientPresetsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(presetsIntro)
	presets := map[string]seam.Preset{}
	for _, p := range seam.Presets() {
		presets[p.Name] = p
	}
	b.WriteString("\n## For all\n")
	for _, name := range seam.DefaultRules() {
		writePreset(&b, presets[name])
	}
	for _, c := range proxy.Clients() {
		fmt.Fprintf(&b, "\n## %s\n\n", c.Name)
		for _, kv := range c.Env("http://127.0.0.1:PORT", "replay") {
			fmt.Fprintf(&b, "    export %s\n", kv)
		}
		for _, n := range c.Notes("http://127.0.0.1:PORT") {
			fmt.Fprintf(&b, "\nAlso: %s.\n", n)
		}
		writePreset(&b, presets[c.Preset])
	}
	snapshot.File(t, reference+"/client-presets.md", []byte(b.String()))
}

func writePreset(b *strings.Builder, p seam.Preset) {
	fmt.Fprintf(b, "\n`%s`: %s.\n\n| rule | where | why |\n|---|---|---|\n", p.Name, p.Doc)
	if len(p.Drop) > 0 {
		fmt.Fprintf(b, "| drop | %s | it differs from run to run |\n", codeSpans(p.Drop))
	}
	if len(p.Alias) > 0 {
		fmt.Fprintf(b, "| alias | %s | it is made anew in each run |\n", codeSpans(p.Alias))
	}
	for _, r := range p.Rules {
		what := string(r.Do)
		if r.Do == seam.Mask {
			what += " " + codeSpans([]string{r.Find}) + " as " + codeSpans([]string{strings.ReplaceAll(r.Put, "$$", "$")})
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", what, codeSpans(r.At), r.Why)
	}
}

func codeSpans(texts []string) string {
	var out []string
	for _, s := range texts {
		quote := "`"
		if strings.Contains(s, quote) {
			quote = "``"
		}
		out = append(out, quote+strings.ReplaceAll(s, "|", `\|`)+quote)
	}
	return strings.Join(out, " ")
}
