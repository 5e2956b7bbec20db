package marinara

import (
	"strconv"

	"github.com/soundstage-dev/soundstage/harness/canon"
	"github.com/soundstage-dev/soundstage/runtime/studio/content/twin"
)

// swatches are the three colours that Marinara has, by the label of a palette.
var swatches = [][2]string{{"name", "nameColor"}, {"dialogue", "dialogueColor"}, {"box", "boxColor"}}

// colours is a palette of three texts below at.
func colours(at string) *twin.Over {
	return &twin.Over{
		Read: func(doc *canon.Node) (*canon.Node, string) {
			list, problem := []*canon.Node(nil), ""
			for _, s := range swatches {
				text, p := twin.ReadText(doc.At(at).Field(s[1]))
				if p != "" {
					problem = s[1] + " " + p
				}
				if text != nil {
					sw := canon.NewObject()
					twin.Set(sw, "/label", canon.NewText(s[0]))
					twin.Set(sw, "/color", text)
					list = append(list, sw)
				}
			}
			if list == nil {
				return nil, problem
			}
			return canon.NewArray(list...), problem
		},
		Write: func(doc, val *canon.Node) (losses []twin.Loss) {
			now := map[string]string{}
			last := -1
			for i, sw := range val.Items() {
				label, where := sw.Field("label").Text(), -1
				for k, s := range swatches {
					if s[0] == label && now[s[1]] == "" && sw.Field("color").Text() != "" {
						where = k
					}
				}
				if where < 0 {
					losses = append(losses, twin.Loss{Path: "/" + strconv.Itoa(i), Value: twin.Clip(sw), Verdict: twin.Dropped, Reason: "Marinara has three colours: name, dialogue and box"})
					continue
				}
				if where < last {
					losses = append(losses, twin.Loss{Value: twin.Clip(val), Verdict: twin.Approximated, Reason: "Marinara's colours have no order"})
				}
				last, now[swatches[where][1]] = where, sw.Field("color").Text()
			}
			for _, s := range swatches {
				ptr := at + "/" + s[1]
				if was := doc.At(ptr); was.Text() != now[s[1]] {
					twin.Set(doc, ptr, canon.NewText(now[s[1]]))
				}
			}
			return losses
		},
	}
}
