package content

import "github.com/soundstage-dev/soundstage/runtime/store"

// A QuickReplySet is a row of buttons. Their messages are scripts of SillyTavern, and
// nothing here runs them.
type QuickReplySet struct {
	Name             string       `json:"name,omitempty"`
	DisableSend      bool         `json:"disableSend,omitempty"`      // the message is put into the input, not sent
	PlaceBeforeInput bool         `json:"placeBeforeInput,omitempty"` // what stands in the input comes behind it
	InjectInput      bool         `json:"injectInput,omitempty"`      // what stands in the input is inserted
	Color            string       `json:"color,omitempty"`            // as written
	OnlyBorderColor  bool         `json:"onlyBorderColor,omitempty"`
	Replies          []QuickReply `json:"replies,omitempty"`
}

// A QuickReply is one button.
type QuickReply struct {
	ID           string        `json:"id"` // unique in the set; a whole number in files
	Label        string        `json:"label,omitempty"`
	ShowLabel    bool          `json:"showLabel,omitempty"`
	Icon         string        `json:"icon,omitempty"`
	Title        string        `json:"title,omitempty"` // the tooltip
	Message      string        `json:"message,omitempty"`
	Menus        []ContextMenu `json:"menus,omitempty"`
	Hidden       bool          `json:"hidden,omitempty"`
	Disabled     bool          `json:"disabled,omitempty"` // of version 1
	RunsOn       []string      `json:"runsOn,omitempty"`   // startup, user, ai, chat_change, group_draft, new_chat, before_generation
	NoAutomation bool          `json:"noAutomation,omitempty"`
	AutomationID string        `json:"automationId,omitempty"`
}

// A ContextMenu is another set that opens on a button.
type ContextMenu struct {
	Set     string `json:"set"` // by its name
	Chained bool   `json:"chained,omitempty"`
}

// ReplyEvents are what a reply can run on by itself.
var ReplyEvents = []string{"startup", "user", "ai", "chat_change", "group_draft", "new_chat", "before_generation"}

func (s QuickReplySet) title() string      { return s.Name }
func (s QuickReplySet) links() []store.Ref { return nil }

func (s QuickReplySet) check() error {
	const op = "content.quickreply"
	ids := map[string]bool{}
	for _, r := range s.Replies {
		if err := unique(op, "reply", r.ID, ids); err != nil {
			return err
		}
		for _, e := range r.RunsOn {
			if err := oneOf(op, "reply "+r.ID, "event", e, ReplyEvents); err != nil {
				return err
			}
		}
	}
	return nil
}
