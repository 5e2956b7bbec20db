package content

import (
	"context"
	"strconv"
	"strings"

	"github.com/soundstage-dev/soundstage/runtime/tool"
)

func quickReplyTools(d Deps) []tool.Tool {
	return []tool.Tool{quickReplyCreateTool(d), quickReplySettingsTool(d), quickReplyRepliesTool(d)}
}

// A ReplyEvent is what a reply runs on by itself.
type ReplyEvent string

// Enum lists the events.
func (ReplyEvent) Enum() []string { return ReplyEvents }

// MenuIn is another set that opens on a button.
type MenuIn struct {
	Set     string `json:"set" jsonschema:"the name of the other set, as the app knows it"`
	Chained bool   `json:"chained,omitempty" jsonschema:"its reply follows this one, instead of replacing it"`
}

// ReplyIn is a new button.
type ReplyIn struct {
	Label        string       `json:"label" jsonschema:"what stands on the button"`
	Message      string       `json:"message,omitempty" jsonschema:"the message or script that it sends; it is stored, not run"`
	Title        string       `json:"title,omitempty" jsonschema:"the tooltip"`
	Icon         string       `json:"icon,omitempty" jsonschema:"the name of an icon, as the app writes it"`
	ShowLabel    bool         `json:"show_label,omitempty" jsonschema:"the label stands beside the icon"`
	Hidden       bool         `json:"hidden,omitempty" jsonschema:"the button is not shown"`
	RunsOn       []ReplyEvent `json:"runs_on,omitempty" jsonschema:"events on which the app runs it by itself"`
	NoAutomation bool         `json:"no_automation,omitempty" jsonschema:"what it does sets off no other replies"`
	AutomationID string       `json:"automation_id,omitempty" jsonschema:"lorebook entries with this id run it"`
	Menus        []MenuIn     `json:"menus,omitempty" jsonschema:"sets that open on the button"`
}

// ReplyChange changes a button. What is left out stays.
type ReplyChange struct {
	ReplyID      string        `json:"reply_id" jsonschema:"the reply's id, as studio.read shows it"`
	Label        *string       `json:"label,omitempty" jsonschema:"what stands on the button; an empty text clears it"`
	Message      *string       `json:"message,omitempty" jsonschema:"the whole message or script; an empty text clears it"`
	Title        *string       `json:"title,omitempty" jsonschema:"the tooltip; an empty text clears it"`
	Icon         *string       `json:"icon,omitempty" jsonschema:"the name of an icon; an empty text clears it"`
	ShowLabel    *bool         `json:"show_label,omitempty" jsonschema:"the label stands beside the icon"`
	Hidden       *bool         `json:"hidden,omitempty" jsonschema:"the button is not shown"`
	Disabled     *bool         `json:"disabled,omitempty" jsonschema:"switched off, where an app knows that"`
	RunsOn       *[]ReplyEvent `json:"runs_on,omitempty" jsonschema:"events on which the app runs it by itself; the whole list"`
	NoAutomation *bool         `json:"no_automation,omitempty" jsonschema:"what it does sets off no other replies"`
	AutomationID *string       `json:"automation_id,omitempty" jsonschema:"lorebook entries with this id run it; an empty text clears it"`
	Menus        *[]MenuIn     `json:"menus,omitempty" jsonschema:"sets that open on the button; the whole list"`
}

// ReplyMove moves buttons.
type ReplyMove struct {
	Replies []string `json:"replies" jsonschema:"ids of the replies, in their new order"`
	Place   Place    `json:"place" jsonschema:"where they go together"`
	Beside  string   `json:"beside,omitempty" jsonschema:"for before and after: a reply's id"`
}

// QuickReplyCreateIn is a new set.
type QuickReplyCreateIn struct {
	ID               string    `json:"id,omitempty" jsonschema:"the id: lower case letters, digits and dashes; derived from the name if left out"`
	Name             string    `json:"name" jsonschema:"the set's name"`
	DisableSend      bool      `json:"disable_send,omitempty" jsonschema:"messages are put into the input and not sent"`
	PlaceBeforeInput bool      `json:"place_before_input,omitempty" jsonschema:"what stands in the input comes behind the message"`
	InjectInput      bool      `json:"inject_input,omitempty" jsonschema:"what stands in the input is inserted"`
	Color            string    `json:"color,omitempty" jsonschema:"the colour of the buttons, as the app writes it"`
	Replies          []ReplyIn `json:"replies,omitempty" jsonschema:"the first buttons, in order"`
}

func quickReplyCreateTool(d Deps) tool.Tool {
	const id = "studio.quickreply.create"
	return tool.New(drafting(id, "Create a quick-reply set", "Create a new set of quick replies, the buttons above an input, as a draft.",
		"Only the name is needed. Messages may be scripts of the app: they are stored and never run here. An id that is taken is refused.",
		"new quick replies", "make buttons", "button bar", "quick reply set", "slash command buttons", "macro buttons"),
		func(ctx context.Context, call tool.Call, in QuickReplyCreateIn) (drafted, error) {
			s := QuickReplySet{Name: in.Name, DisableSend: in.DisableSend, PlaceBeforeInput: in.PlaceBeforeInput, InjectInput: in.InjectInput, Color: in.Color}
			return createNoted(ctx, d, call, action{KindQuickReply, id, in.ID}, in, s, func(s *QuickReplySet, warn say) error {
				made, err := newReplies(s.Replies, in.Replies, warn)
				s.Replies = made
				return err
			})
		})
}

// QuickReplySettingsIn changes a set but for its buttons.
type QuickReplySettingsIn struct {
	ID               string  `json:"id" jsonschema:"the quick-reply set's id, as studio.list shows it"`
	Name             *string `json:"name,omitempty" jsonschema:"the name; it cannot be cleared"`
	DisableSend      *bool   `json:"disable_send,omitempty" jsonschema:"messages are put into the input and not sent"`
	PlaceBeforeInput *bool   `json:"place_before_input,omitempty" jsonschema:"what stands in the input comes behind the message"`
	InjectInput      *bool   `json:"inject_input,omitempty" jsonschema:"what stands in the input is inserted"`
	Color            *string `json:"color,omitempty" jsonschema:"the colour of the buttons; an empty text clears it"`
	OnlyBorderColor  *bool   `json:"only_border_color,omitempty" jsonschema:"only the borders have it"`
}

func quickReplySettingsTool(d Deps) tool.Tool {
	const id = "quickreply.settings.update"
	return tool.New(drafting(id, "Update a quick-reply set's settings", "Change the name, sending and colour of a quick-reply set, as a draft.",
		"Give only what should change. Buttons are quickreply.replies.manage's.",
		"rename the quick replies", "button colour", "button color", "do not send at once", "inject the input"),
		func(ctx context.Context, call tool.Call, in QuickReplySettingsIn) (drafted, error) {
			return edit(ctx, d, call, action{KindQuickReply, id, in.ID}, in, func(s *QuickReplySet, _ say) error {
				put(&s.Name, in.Name)
				put(&s.DisableSend, in.DisableSend)
				put(&s.PlaceBeforeInput, in.PlaceBeforeInput)
				put(&s.InjectInput, in.InjectInput)
				put(&s.Color, in.Color)
				put(&s.OnlyBorderColor, in.OnlyBorderColor)
				return nil
			})
		})
}

// QuickRepliesIn changes the buttons of a set.
type QuickRepliesIn struct {
	ID     string        `json:"id" jsonschema:"the quick-reply set's id, as studio.list shows it"`
	Update []ReplyChange `json:"update,omitempty" jsonschema:"buttons to change"`
	Remove []string      `json:"remove,omitempty" jsonschema:"ids of buttons to remove"`
	Create []ReplyIn     `json:"create,omitempty" jsonschema:"new buttons, in order"`
	Place  Place         `json:"place,omitempty" jsonschema:"where the new buttons go; last if left out"`
	Beside string        `json:"beside,omitempty" jsonschema:"for before and after: a reply's id"`
	Move   []ReplyMove   `json:"move,omitempty" jsonschema:"buttons to move"`
}

func quickReplyRepliesTool(d Deps) tool.Tool {
	const id = "quickreply.replies.manage"
	return tool.New(drafting(id, "Manage quick replies", "Add, change, hide, move and remove the buttons of a quick-reply set, as a draft.",
		"Update, remove, create and move run in this order. Messages may be scripts of the app: they are stored and never run here.",
		"edit a button", "add a button", "change a quick reply", "button label", "script of a button", "run automatically", "auto execute", "delete a button", "move a button", "hide a button"),
		func(ctx context.Context, call tool.Call, in QuickRepliesIn) (drafted, error) {
			return edit(ctx, d, call, action{KindQuickReply, id, in.ID}, in, func(s *QuickReplySet, warn say) error {
				list, err := manageReplies(s.Replies, in, warn)
				s.Replies = list
				return err
			})
		})
}

var replies = rows[QuickReply]{"reply", func(r QuickReply) string { return r.ID }}

// manageReplies runs the operations of one call on a list that it may change.
func manageReplies(list []QuickReply, in QuickRepliesIn, warn say) ([]QuickReply, error) {
	for _, c := range in.Update {
		i, err := replies.at(list, c.ReplyID)
		if err != nil {
			return nil, err
		}
		updateReply(&list[i], c)
		worryReply(list[i], warn)
	}
	kept, gone, err := replies.remove(list, in.Remove)
	if err != nil {
		return nil, err
	}
	for _, r := range gone {
		if r.AutomationID != "" {
			warn("reply %q goes, and lorebook entries with the automation id %q run nothing any more", r.ID, r.AutomationID)
		}
	}
	made, err := newReplies(list, in.Create, warn)
	if err != nil {
		return nil, err
	}
	if list, err = replies.insert(kept, made, spot{in.Place, in.Beside}); err != nil {
		return nil, err
	}
	for _, m := range in.Move {
		if list, err = replies.move(list, m.Replies, spot{m.Place, m.Beside}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// newReplies are buttons with the numbers behind those that there are, as the app
// counts them.
func newReplies(list []QuickReply, in []ReplyIn, warn say) ([]QuickReply, error) {
	if len(in) > maxItems {
		return nil, tooMany("reply", len(in))
	}
	last := 0
	for _, r := range list {
		if n, err := strconv.Atoi(r.ID); err == nil && n < 1<<53 {
			last = max(last, n)
		}
	}
	var made []QuickReply
	for _, i := range in {
		last++
		r := QuickReply{
			ID: strconv.Itoa(last), Label: i.Label, ShowLabel: i.ShowLabel, Icon: i.Icon, Title: i.Title, Message: i.Message, Menus: menus(i.Menus),
			Hidden: i.Hidden, RunsOn: words(i.RunsOn), NoAutomation: i.NoAutomation, AutomationID: i.AutomationID,
		}
		worryReply(r, warn)
		made = append(made, r)
	}
	return made, nil
}

func updateReply(r *QuickReply, c ReplyChange) {
	put(&r.Label, c.Label)
	put(&r.Message, c.Message)
	put(&r.Title, c.Title)
	put(&r.Icon, c.Icon)
	put(&r.ShowLabel, c.ShowLabel)
	put(&r.Hidden, c.Hidden)
	put(&r.Disabled, c.Disabled)
	put(&r.NoAutomation, c.NoAutomation)
	put(&r.AutomationID, c.AutomationID)
	if c.RunsOn != nil {
		r.RunsOn = words(*c.RunsOn)
	}
	if c.Menus != nil {
		r.Menus = menus(*c.Menus)
	}
}

func menus(in []MenuIn) []ContextMenu {
	var list []ContextMenu
	for _, m := range in {
		list = append(list, ContextMenu(m))
	}
	return list
}

// worryReply says what a button would do that a person should know of.
func worryReply(r QuickReply, warn say) {
	if len(r.RunsOn) > 0 {
		warn("reply %q will be run by the app by itself, on: %s", r.ID, strings.Join(r.RunsOn, ", "))
	}
	if r.Label == "" && r.Icon == "" {
		warn("reply %q has neither label nor icon", r.ID)
	}
	if r.Message == "" && len(r.Menus) == 0 {
		warn("reply %q does nothing: it has no message", r.ID)
	}
}
