package load

import (
	"strconv"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
)

func (l *loader) intent(m *module, k *key, what string) *program.Intent {
	o := l.object(k.val, "%s", what)
	i := &program.Intent{
		Name: k.name, Bare: k.name, Title: o.text("title"), Description: o.text("description"), Examples: o.texts("examples"), Synonyms: o.texts("synonyms"),
		Priority: o.int("priority"), Hidden: o.bool("hidden"), Slots: map[string]*program.Slot{}, Scope: m.scope, Pos: k.pos,
	}
	for _, s := range o.entries("slots") {
		i.Slots[s.name] = l.slot(s, what+", slot "+s.name)
		i.SlotOrder = append(i.SlotOrder, s.name)
	}
	o.done()
	return i
}

func (l *loader) slot(k *key, what string) *program.Slot {
	o := l.object(k.val, "%s", what)
	s := &program.Slot{
		Name: k.name, Type: o.text("type"), Required: o.bool("required"), Default: o.node("default").value(), HasDefault: !o.n.get("default").isNull(),
		Values: o.texts("values"), Description: o.text("description"), Examples: o.texts("examples"), FormatHint: o.text("format_hint"),
		Prompt: o.text("prompt"), Validator: o.text("validator"), Format: o.text("format"), Pos: k.pos,
	}
	for _, y := range o.entries("synonyms") {
		if s.Synonyms == nil {
			s.Synonyms = map[string][]string{}
		}
		for _, it := range y.val.list {
			s.Synonyms[y.name] = append(s.Synonyms[y.name], it.scalar.Text())
		}
	}
	o.done()
	return s
}

// Duration reads Go's durations and whole days, "3d".
func Duration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || n < 0 || n > 10_000 {
			return 0, fault.New(fault.Invalid, "story.duration", "%q mixes days with other units, or is no number of days", s)
		}
		return time.Duration(n * float64(24*time.Hour)), nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fault.New(fault.Invalid, "story.duration", "%q is no duration", s)
	}
	return d, nil
}
