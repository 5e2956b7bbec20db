package load

import (
	"strconv"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/program"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/source"
)

func (l *loader) intent(m *module, k *source.Key, what string) *program.Intent {
	o := l.object(k.Val, "%s", what)
	i := &program.Intent{
		Name: k.Name, Bare: k.Name, Title: o.text("title"), Description: o.text("description"), Examples: o.texts("examples"), Synonyms: o.texts("synonyms"),
		Priority: o.int("priority"), Hidden: o.bool("hidden"), Slots: map[string]*program.Slot{}, Scope: m.scope, Pos: k.Pos,
	}
	for _, s := range o.entries("slots") {
		i.Slots[s.Name] = l.slot(s, what+", slot "+s.Name)
		i.SlotOrder = append(i.SlotOrder, s.Name)
	}
	o.done()
	l.checkIntent(o, i)
	return i
}

func (l *loader) slot(k *source.Key, what string) *program.Slot {
	o := l.object(k.Val, "%s", what)
	s := &program.Slot{
		Name: k.Name, Type: o.text("type"), Required: o.bool("required"), Default: o.node("default").Value(), HasDefault: !o.n.Get("default").IsNull(),
		Values: o.texts("values"), Description: o.text("description"), Examples: o.texts("examples"), FormatHint: o.text("format_hint"),
		Prompt: o.text("prompt"), Validator: o.text("validator"), Format: o.text("format"), Pos: k.Pos,
	}
	for _, y := range o.entries("synonyms") {
		if s.Synonyms == nil {
			s.Synonyms = map[string][]string{}
		}
		for _, it := range y.Val.List {
			s.Synonyms[y.Name] = append(s.Synonyms[y.Name], it.Scalar.Text())
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
	if err != nil && strings.ContainsRune(s, 'd') {
		return 0, fault.New(fault.Invalid, "story.duration", "%q mixes days with other units, or is no duration", s)
	}
	if err != nil {
		return 0, fault.New(fault.Invalid, "story.duration", "%q is no duration", s)
	}
	return d, nil
}
